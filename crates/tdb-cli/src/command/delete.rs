//! `tdb delete`: cells by a condition, fragments by their time.

use std::borrow::Cow;
use std::ffi::OsString;

use tdb_array::Array;
use tdb_condition::{Condition, Operator};
use tdb_schema::{ArraySchema, Attribute, Dimension};

use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::target;
use crate::terminal::printable;
use crate::time::{Stamp, TimeArgs, WithinDates};
use crate::value;

/// Delete cells by a condition, or fragments by their time
///
/// Cells of a sparse array are marked as deleted, and stay readable as of an earlier time; those whose field is null are
/// deleted by any comparison of it. A value may stand in double quotes. Fragments are removed, with all that is in them.
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
    fragments: Option<WithinDates>,

    /// Delete all cells that were written before the array had the field of a condition, too
    #[arg(long, requires = "conditions")]
    without_field_too: bool,

    #[command(flatten)]
    stamp: Stamp,
}

pub(crate) fn run(args: &Args, key: &Key) -> Result<()> {
    let (path, array) = target::open_array(&args.array, 1, &TimeArgs::default(), key, target::local_storage)?;
    if let Some(WithinDates(time)) = args.fragments {
        let count = array.delete_fragments(time)?;
        if count == 0 {
            eprintln!("{}: no fragment lies within that time; nothing was deleted", printable(&path.to_string_lossy()));
        } else {
            let fragments = if count == 1 { "fragment" } else { "fragments" };
            eprintln!("{}: {count} {fragments} deleted", printable(&path.to_string_lossy()));
        }
        return Ok(());
    }
    let conditions = args.conditions.iter().map(|text| condition(&array, text));
    let condition = conditions.reduce(|all, next| Ok(all?.and(next?)));
    match condition {
        Some(condition) => {
            let condition = condition?;
            if !args.without_field_too {
                check_all_have(&array, &condition)?;
            }
            Ok(array.delete_cells(&condition, &args.stamp.names())?)
        }
        None => Ok(()),
    }
}

/// The format stores what cells must fulfil to stay, which those without the field don't: whoever sees the fill value in
/// its place wouldn't think so.
fn check_all_have(array: &Array, condition: &Condition) -> Result<()> {
    for field in condition.fields() {
        let lacking = array.fragments()?.iter().filter(|fragment| fragment.schema().field(field).is_none()).count();
        if lacking > 0 {
            let fragments = if lacking == 1 { "one fragment was" } else { "some fragments were" };
            let what = format!("{fragments} written before there was a field {field:?}: all of their cells would go");
            let hint = "by format, cells without the field can't stay; --without-field-too deletes them";
            return Err(Failure::usage(what).with_hint(hint));
        }
    }
    Ok(())
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
    let schema = array.schema();
    let (field, operator, value) = split(schema, text)?;
    if value.eq_ignore_ascii_case("null") {
        return Err(no_null_test(text));
    }
    let value = unquoted(value).map_err(|why| Failure::usage(format!("--where {text:?}: {why}")))?;
    let value = value.as_ref();
    let unknown = || Failure::usage(format!("--where {text:?}: the array has no field {field:?}"));
    let kind = schema.field(field).and_then(|found| schema.field_type(found)).ok_or_else(unknown)?;
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

/// Field, operator and value. Names may hold operators, so that the longest name that fits counts.
fn split<'t>(schema: &ArraySchema, text: &'t str) -> Result<(&'t str, Operator, &'t str)> {
    let text = text.trim();
    let attributes = schema.attributes().iter().map(Attribute::name);
    let names = schema.dimensions().iter().map(Dimension::name).chain(attributes);
    let fits = |name: &str| {
        let rest = text.strip_prefix(name)?.trim_start();
        let found = OPERATORS.iter().find_map(|(sign, operator)| Some((*operator, rest.strip_prefix(sign)?)));
        found.map(|(operator, value)| (&text[..name.len()], operator, value.trim()))
    };
    if let Some(found) = names.filter_map(fits).max_by_key(|(name, ..)| name.len()) {
        return Ok(found);
    }
    // No field is named: the first sign tells what was meant to be its name.
    let signs = OPERATORS.iter().filter_map(|(sign, operator)| Some((text.find(sign)?, *sign, *operator)));
    let Some((at, sign, operator)) = signs.min_by_key(|(at, sign, _)| (*at, usize::MAX - sign.len())) else {
        let words = text.to_lowercase();
        if words.ends_with(" is null") || words.ends_with(" is not null") {
            return Err(no_null_test(text));
        }
        return Err(Failure::usage(format!("--where {text:?}: write FIELD OPERATOR VALUE, such as 'quality < 10'")));
    };
    Ok((text[..at].trim_end(), operator, text[at + sign.len()..].trim()))
}

fn no_null_test(text: &str) -> Failure {
    Failure::usage(format!(
        "--where {text:?}: a delete can't test for null, because the format has no way to store that"
    ))
    .with_hint("cells whose field is null are deleted by any comparison of it; the text null is written \"null\"")
}

/// The value without the quotes of a JSON string, if it has them.
fn unquoted(value: &str) -> Result<Cow<'_, str>, String> {
    match value.as_bytes().first() {
        Some(b'"') => serde_json::from_str(value)
            .map(Cow::Owned)
            .map_err(|_| format!("{value} is no JSON string; leave the quotes out, or close them")),
        Some(b'\'') => Err(format!("write the value without quotes, or in double ones: {value}")),
        _ => Ok(Cow::Borrowed(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes() {
        assert_eq!(unquoted("chr 1").unwrap(), "chr 1");
        assert_eq!(unquoted(r#""a \"b\"""#).unwrap(), "a \"b\"");
        assert!(unquoted("'A'").is_err() && unquoted("\"A").is_err());
    }
}
