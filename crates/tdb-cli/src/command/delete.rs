//! `tdb delete`: cells by a condition, fragments by their time.

use std::ffi::OsString;

use tdb_array::Array;
use tdb_condition::{Condition, Operator};

use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::target;
use crate::terminal::Terminal;
use crate::time::{Stamp, TimeArgs, Within};
use crate::value;

/// Delete cells by a condition, or fragments by their time
///
/// Cells of a sparse array are marked as deleted, and stay readable as of an earlier time; those whose field is null are
/// deleted by any comparison of it. Fragments are removed, with all that is in them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb delete ARRAY --where 'quality < 10'
  tdb delete ARRAY --where 'sample == NA12878' --where 'quality != 99'     cells that fulfil both
  tdb delete ARRAY --fragments 2024-05-01..2024-05-31")]
pub(crate) struct Args {
    /// The array
    array: OsString,

    /// Delete cells for which this holds: FIELD OPERATOR VALUE, with < <= > >= == !=; several must all hold
    #[arg(long = "where", value_name = "CONDITION", required_unless_present = "fragments")]
    conditions: Vec<String>,

    /// Delete the fragments that were written between two times, both included
    #[arg(long, value_name = "FIRST..LAST", conflicts_with = "conditions")]
    fragments: Option<Within>,

    #[command(flatten)]
    stamp: Stamp,
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let (path, array) = target::open_array(&args.array, 1, &TimeArgs::default(), key, target::local_storage)?;
    if let Some(Within(time)) = args.fragments {
        let count = array.delete_fragments(time)?;
        if terminal.stderr {
            let fragments = if count == 1 { "fragment" } else { "fragments" };
            eprintln!("{}: {count} {fragments} deleted", path.display());
        }
        return Ok(());
    }
    let conditions = args.conditions.iter().map(|text| condition(&array, text));
    let condition = conditions.reduce(|all, next| Ok(all?.and(next?)));
    match condition {
        Some(condition) => Ok(array.delete_cells(&condition?, &args.stamp.names())?),
        None => Ok(()),
    }
}

const OPERATORS: [(&str, Operator); 7] = [
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("=", Operator::Equal),
];

/// A comparison of a field with a value.
fn condition(array: &Array, text: &str) -> Result<Condition> {
    // The first sign decides, and of those that begin there the longest.
    let found = OPERATORS.iter().filter_map(|(sign, operator)| Some((text.find(sign)?, *sign, *operator)));
    let Some((at, sign, operator)) = found.min_by_key(|(at, sign, _)| (*at, usize::MAX - sign.len())) else {
        return Err(Failure::usage(format!("--where {text:?}: write FIELD OPERATOR VALUE, such as 'quality < 10'")));
    };
    let (field, value) = (text[..at].trim(), text[at + sign.len()..].trim());
    let schema = array.schema();
    let Some(found) = schema.field(field) else {
        return Err(Failure::usage(format!("--where {text:?}: the array has no field {field:?}")));
    };
    let Some(kind) = schema.field_type(found) else {
        return Err(Failure::usage(format!("--where {text:?}: the array has no field {field:?}")));
    };
    let enumeration = schema.attributes().iter().find(|attribute| attribute.name() == field);
    let bytes = match enumeration.and_then(|attribute| attribute.enumeration()) {
        Some(name) => {
            let enumeration = array.enumeration(name)?;
            value::bytes(enumeration.datatype(), enumeration.cell_val_num(), value)?
        }
        None => value::bytes(kind.datatype, kind.cell_val_num, value)?,
    };
    Ok(Condition::Compare { field: field.to_owned(), operator, value: bytes })
}
