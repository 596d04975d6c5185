//! The condition in a delete commit.
//!
//! ```text
//! comparison: u8 1 | u8 operator | u32 length | field | u64 length | value
//!             | IN and NOT IN: u64 length | u64 offsets of the values
//! combination: u8 0 | u8 operator | u64 count | count × node
//! ```
//!
//! Stored is what cells must fulfil to stay: the negation of what the delete asked for.

use tdb_types::{ByteReader, DecodeError, DecodeErrorKind};

const IN: u8 = 6;
const NOT_IN: u8 = 7;
/// Least bytes of a node.
const MIN_NODE: u64 = 10;

/// Reads the whole payload; `depth` bounds how deep conditions may nest.
pub(super) fn parse(reader: &mut ByteReader<'_>, depth: u32) -> Result<(), DecodeError> {
    reader.group(|| "condition to stay".to_owned(), |reader| node(reader, depth))
}

fn node(reader: &mut ByteReader<'_>, depth: u32) -> Result<(), DecodeError> {
    let offset = reader.offset();
    let Some(depth) = depth.checked_sub(1) else {
        let kind = DecodeErrorKind::LimitExceeded { limit: "depth", asked: 1, max: 0 };
        return Err(DecodeError::new(kind, "condition", offset));
    };
    let is_comparison = reader.bool("node")?;
    reader.explain(|| if is_comparison { "comparison" } else { "combination" }.to_owned());
    if is_comparison { comparison(reader) } else { combination(reader, depth) }
}

fn comparison(reader: &mut ByteReader<'_>) -> Result<(), DecodeError> {
    let operator = reader.u8("operator")?;
    let name = match operator {
        0 => "<",
        1 => "<=",
        2 => ">",
        3 => ">=",
        4 => "==",
        5 => "!=",
        IN => "in",
        NOT_IN => "not in",
        253 => "always true",
        254 => "always false",
        _ => "unknown",
    };
    reader.explain(|| name.to_owned());
    reader.string_u32("field")?;
    let length = reader.u64("length")?;
    reader.bytes("value", length)?;
    if matches!(operator, IN | NOT_IN) {
        let length = reader.u64("length of the offsets")?;
        reader.u64_list("offsets", length / 8)?;
    }
    Ok(())
}

fn combination(reader: &mut ByteReader<'_>, depth: u32) -> Result<(), DecodeError> {
    let operator =
        reader.code("operator", "0 (and), 1 (or) or 2 (not)", |code| ["and", "or", "not"].get(usize::from(code)))?;
    let count = reader.u64("count")?;
    let count = reader.count("nodes", count, MIN_NODE)?;
    for index in 0..count {
        reader.group(|| format!("{operator} {index}"), |reader| node(reader, depth))?;
    }
    Ok(())
}
