//! `tdb meta`: the metadata of an array or group.

use std::ffi::OsString;
use std::path::Path;

use tdb_array::{Metadata, MetadataValue};
use tdb_exchange::value;
use tdb_types::{CellValNum, Datatype};

use crate::failure::{Exit, Failure, Result};
use crate::key::Key;
use crate::suggest;
use crate::target::{self, Kind};
use crate::time::{Stamp, TimeArgs};
use tdb_print::{Entry, RowFormat, Sheet};
use tdb_print::{Terminal, printable};

/// Show or change the metadata of an array or group
///
/// Prints keys with typed values. Arrays of numbers written by Python have keys with the prefixes
/// __np_flat_ and __np_shape_, and are shown under these keys.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb meta ARRAY
  tdb meta GROUP --at 2024-05-01
  tdb meta ARRAY --put title=string_utf8:Rain --put limits=float64:0.5,2 --delete draft
  tdb meta ARRAY --key title --format json | jq '.[0].value'")]
pub(crate) struct Args {
    /// Array or group
    path: OsString,

    /// Show only this key, which must exist (repeatable)
    #[arg(short, long, value_name = "KEY")]
    key: Vec<String>,

    /// Set a key, such as title=string_utf8:Rain or limits=float64:0.5,2 (repeatable)
    #[arg(long, value_name = "KEY=TYPE:VALUE", conflicts_with_all = ["at", "between", "key"])]
    put: Vec<String>,

    /// Delete a key (repeatable)
    #[arg(long, value_name = "KEY", conflicts_with_all = ["at", "between", "key"])]
    delete: Vec<String>,

    #[command(flatten)]
    stamp: Stamp,

    #[command(flatten)]
    time: TimeArgs,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    if !args.put.is_empty() || !args.delete.is_empty() {
        return change(args, key);
    }
    let (path, kind) = target::find(&args.path)?;
    let format = RowFormat::or_default(args.format, terminal);
    let sheet = match kind {
        Kind::Group => {
            let group = target::open_group(&path, &args.time, key)?;
            rows(&path, group.metadata()?, &args.key, format)?
        }
        _ => {
            let (path, array) = target::open_array(&args.path, 1, &args.time, key)?;
            rows(&path, array.metadata()?, &args.key, format)?
        }
    };
    Ok(sheet.print(format, terminal)?)
}

/// Puts and deletes keys in one metadata file.
fn change(args: &Args, key: &Key) -> Result<()> {
    let (path, kind) = target::find(&args.path)?;
    let puts = |key: &String| args.put.iter().any(|put| put.split_once('=').is_some_and(|(put, _)| put == key));
    if let Some(key) = args.delete.iter().find(|key| puts(key)) {
        return Err(Failure::usage(format!("{key}: given to both --put and --delete")));
    }
    // Puts do not need the existing metadata.
    let deletes = !args.delete.is_empty();
    let writer = match kind {
        Kind::Group => {
            let group = target::open_group(&path, &args.time, key)?;
            if deletes {
                check_there(&path, group.metadata()?, &args.delete)?;
            }
            group.write_metadata()
        }
        _ => {
            let (path, array) = target::open_array(&args.path, 1, &args.time, key)?;
            if deletes {
                check_there(&path, array.metadata()?, &args.delete)?;
            }
            array.write_metadata()
        }
    };
    let mut writer = writer.ids(args.stamp.names());
    for put in &args.put {
        let parts = put.split_once('=').and_then(|(key, value)| Some((key, value.split_once(':')?)));
        let (key, (datatype, text)) = parts.ok_or_else(|| {
            Failure::usage(format!("--put {put}: write KEY=TYPE:VALUE, such as title=string_utf8:Rain"))
        })?;
        let datatype = Datatype::from_name(datatype)
            .ok_or_else(|| Failure::usage(format!("--put {put}: no type is named {datatype:?}")))?;
        let bytes = value::bytes(datatype, CellValNum::Var, text)?;
        let value = MetadataValue::new(datatype, bytes).map_err(Failure::usage)?;
        warn_of_python(key, datatype);
        writer = writer.put(key, value);
    }
    writer = args.delete.iter().fold(writer, |writer, key| writer.delete(key.as_str()));
    Ok(writer.commit()?)
}

/// Warns about types that TileDB-Py cannot read. A single value of such a type hides all metadata
/// from TileDB-Py.
fn warn_of_python(key: &str, datatype: Datatype) {
    let is_string = matches!(datatype, Datatype::StringUtf8 | Datatype::StringAscii);
    let is_array = key.starts_with("__np_flat_");
    let advice = match datatype {
        _ if is_string || is_array => return,
        Datatype::Bool => "store booleans as int64:1",
        _ if datatype.is_datetime() || datatype.is_time() => "store text, or an array under __np_flat_KEY",
        Datatype::GeomWkb => "store the value as blob",
        _ if datatype.is_string() || datatype == Datatype::GeomWkt => "store the value as string_utf8",
        _ => return,
    };
    eprintln!(
        "tdb: warning: {}: TileDB-Py cannot read metadata with a value of type {datatype}; {advice}",
        printable(key)
    );
}

/// Checks that all keys exist.
fn check_there(path: &Path, metadata: &Metadata, keys: &[String]) -> Result<()> {
    let known: Vec<String> = metadata.iter().map(|(key, _)| key.into_owned()).collect();
    if let Some(key) = keys.iter().find(|key| !known.contains(key)) {
        let failure = Failure::new(Exit::Unavailable, format!("{}: no metadata key is named {key:?}", path.display()));
        return Err(match suggest::nearest(key, known.iter().map(String::as_str)) {
            Some(near) => failure.with_hint(format!("did you mean {near:?}?")),
            None => failure.with_hint(format!("run `tdb meta {}` for a list of keys", path.display())),
        });
    }
    Ok(())
}

fn rows(path: &Path, metadata: &Metadata, keys: &[String], format: RowFormat) -> Result<Sheet> {
    check_there(path, metadata, keys)?;
    let mut sheet = Sheet::new(&[("key", false), ("type", false), ("count", true), ("value", false)]);
    let is_wanted = |key: &str| keys.is_empty() || keys.iter().any(|wanted| wanted == key);
    for (key, value) in metadata.iter().filter(|(key, _)| is_wanted(key)) {
        sheet.push(vec![
            key.into_owned().into(),
            value.datatype().name().into(),
            u64::from(value.count()).into(),
            shown(value, format),
        ]);
    }
    Ok(sheet)
}

pub(super) fn shown(value: &MetadataValue, format: RowFormat) -> Entry {
    // The count of a text is its number of code units. A single value is not shown as a list.
    let number = if value.count() == 1 { CellValNum::ONE } else { CellValNum::Var };
    // R and C++ store text as `char`.
    let datatype = if value.datatype() == Datatype::Char { Datatype::StringUtf8 } else { value.datatype() };
    Entry::cell(datatype, number, value.as_bytes(), format)
}
