//! `tdb delete`: deletion of cells by condition, and of fragments by time.

use std::ffi::OsString;

use tdb_array::{Array, TimeRange};
use tdb_condition::Condition;
use tdb_exchange::time::between;

use crate::condition;
use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::size::counted;
use crate::target;
use crate::time::{Stamp, TimeArgs};
use tdb_print::printable;

/// Delete cells by condition, or fragments by time
///
/// Cells of a sparse array are marked as deleted, and stay readable as of an earlier time. A
/// comparison also deletes cells whose field is null. Fragments are removed with all their cells.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb delete ARRAY --where 'quality < 10'
  tdb delete ARRAY --where \"sample = 'NA12878' and quality not in (98, 99)\"
  tdb delete ARRAY --fragments 2024-05-01..2024-05-31")]
pub(crate) struct Args {
    /// Path of the array
    array: OsString,

    /// Delete cells that match a condition, such as "qual < 30 or chrom in ('chr1', 'chr2')"
    /// (repeatable). Several conditions must all hold
    #[arg(long = "where", value_name = "CONDITION", required_unless_present = "fragments")]
    conditions: Vec<String>,

    /// Delete the fragments written within a time range, both ends inclusive
    #[arg(long, value_name = "FIRST..LAST", value_parser = between, conflicts_with = "conditions")]
    fragments: Option<TimeRange>,

    /// Also delete all cells written before the array had the field of a condition
    #[arg(long, requires = "conditions")]
    without_field_too: bool,

    #[command(flatten)]
    stamp: Stamp,
}

pub(crate) fn run(args: &Args, key: &Key) -> Result<()> {
    let (path, array) = target::open_array(&args.array, 1, &TimeArgs::default(), key)?;
    if let Some(time) = args.fragments {
        let count = array.delete_fragments(time)?;
        let what = match count {
            0 => "no fragment is within the time range; nothing was deleted".to_owned(),
            _ => format!("{} deleted", counted(count as u64, "fragment")),
        };
        eprintln!("{}: {what}", printable(&path.to_string_lossy()));
        return Ok(());
    }
    match condition::all_of(&array, &args.conditions)? {
        Some(condition) => {
            if !args.without_field_too {
                check_all_have(&array, &condition)?;
            }
            Ok(array.delete_cells(&condition, &args.stamp.names())?)
        }
        None => Ok(()),
    }
}

/// Checks that all fragments have the fields of the condition.
///
/// The format stores the condition of the remaining cells. Cells without the field never fulfill
/// that condition and would be deleted, although readers show them with the fill value.
fn check_all_have(array: &Array, condition: &Condition) -> Result<()> {
    for field in condition.fields() {
        let lacking = array.fragments()?.iter().filter(|fragment| fragment.schema().field(field).is_none()).count();
        if lacking > 0 {
            let fragments = if lacking == 1 { "one fragment was" } else { "some fragments were" };
            let what =
                format!("{fragments} written before field {field:?} was added: all of their cells would be deleted");
            let hint = "pass --without-field-too to delete cells without the field, which the format cannot keep";
            return Err(Failure::usage(what).with_hint(hint));
        }
    }
    Ok(())
}
