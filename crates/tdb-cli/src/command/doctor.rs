//! `tdb doctor`: what interrupted writes have left behind.

use std::ffi::OsString;

use tdb_storage::EntryKind;

use crate::failure::{Exit, Failure, Result};
use crate::key::Key;
use crate::output::{RowFormat, Sheet};
use crate::target;
use crate::terminal::Terminal;
use crate::time::TimeArgs;

/// Find, and remove, what interrupted writes have left in an array
///
/// Nothing of it counts for readers: fragments that were never committed, temporary files, enumerations that no schema
/// names. A write that is going on looks the same, so remove only while nobody writes. The exit code is 1 if something was
/// found and not removed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb doctor ARRAY
  tdb doctor ARRAY --remove")]
pub(crate) struct Args {
    /// The array
    array: OsString,

    /// Remove what is found
    #[arg(long)]
    remove: bool,

    /// How to print; a table on a terminal, else JSON lines
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let (path, array) = target::open_array(&args.array, 1, &TimeArgs::default(), key, target::local_storage)?;
    let leftovers = array.leftovers()?;
    let mut sheet = Sheet::new(&[("path", false), ("kind", false), ("what", false)]);
    for leftover in &leftovers {
        let kind = if leftover.kind == EntryKind::Folder { "folder" } else { "file" };
        sheet.push(vec![leftover.path.as_str().into(), kind.into(), leftover.what.into()]);
    }
    sheet.print(RowFormat::or_default(args.format, terminal), terminal)?;
    if args.remove {
        return Ok(array.remove_leftovers(&leftovers)?);
    }
    if leftovers.is_empty() {
        return Ok(());
    }
    let count = leftovers.len();
    let things = if count == 1 { "thing" } else { "things" };
    Err(Failure::new(Exit::Finding, format!("{}: {count} {things} that no reader looks at", path.display()))
        .with_hint("while nobody writes to the array, --remove takes them away"))
}
