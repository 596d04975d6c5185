//! `tdb meta`: the metadata of an array or group.

use std::ffi::OsString;

use tdb_array::{Metadata, MetadataValue};
use tdb_types::{CellValNum, Datatype};

use super::describe::json_cell;
use crate::cells::Kind as CellKind;
use crate::failure::Result;
use crate::key::Key;
use crate::output::{Entry, RowFormat, Sheet};
use crate::target::{self, Kind};
use crate::terminal::Terminal;
use crate::time::TimeArgs;

/// Show the metadata of an array or group: keys with typed values
///
/// Arrays of numbers that Python put are kept under keys that begin with __np_flat_ and __np_shape_, and are shown so.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb meta ARRAY
  tdb meta GROUP --at 2024-05-01
  tdb meta ARRAY --key title --format json | jq '.[0].value'")]
pub(crate) struct Args {
    /// An array or a group
    path: OsString,

    /// Show only this key; may be given many times
    #[arg(short, long, value_name = "KEY")]
    key: Vec<String>,

    #[command(flatten)]
    time: TimeArgs,

    /// How to print; a table on a terminal, else JSON lines
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let (path, kind) = target::find(&args.path)?;
    let sheet = match kind {
        Kind::Group => rows(target::open_group(&path, &args.time, key)?.metadata()?, &args.key),
        _ => rows(target::open_array(&args.path, 1, &args.time, key, target::local_storage)?.1.metadata()?, &args.key),
    };
    sheet.print(RowFormat::or_default(args.format, terminal), terminal)
}

fn rows(metadata: &Metadata, keys: &[String]) -> Sheet {
    let mut sheet = Sheet::new(&[("key", false), ("type", false), ("count", true), ("value", false)]);
    let is_wanted = |key: &str| keys.is_empty() || keys.iter().any(|wanted| wanted == key);
    for (key, value) in metadata.iter().filter(|(key, _)| is_wanted(key)) {
        sheet.push(vec![
            key.into_owned().into(),
            value.datatype().name().into(),
            u64::from(value.count()).into(),
            shown(value),
        ]);
    }
    sheet
}

fn shown(value: &MetadataValue) -> Entry {
    // Of text the count is that of its units; a single value is no list.
    let number = if value.count() == 1 { CellValNum::ONE } else { CellValNum::Var };
    // As R and C++ put text.
    let datatype = if value.datatype() == Datatype::Char { Datatype::StringUtf8 } else { value.datatype() };
    let text = CellKind::of(datatype, number, false).text(value.as_bytes());
    Entry::shown(text, json_cell(datatype, number, value.as_bytes()))
}
