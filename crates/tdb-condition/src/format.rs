//! Conditions in delete and update commits.
//!
//! ```text
//! comparison:  u8 1 | u8 operator | u32 length | field | u64 length | value
//!              | IN and NOT IN: u64 length in bytes | u64 offsets of the values
//! combination: u8 0 | u8 operator | u64 count | count × node
//! delete:      node
//! update:      node | u64 count | count × { u64 length | field | u64 length | value }
//! ```

use tdb_generic_tile::{GenericTile, GenericTileEncoder};
use tdb_types::{ByteReader, ByteWriter, DecodeError, DecodeErrorKind, FormatVersion, Limits, Spans};

use crate::error::{ConditionError, Result};
use crate::tree::{Condition, Members, Operator};

const IN: u8 = 6;
const NOT_IN: u8 = 7;
const ALWAYS_TRUE: u8 = 253;
const ALWAYS_FALSE: u8 = 254;

const AND: u8 = 0;
const OR: u8 = 1;
const NOT: u8 = 2;

/// The size of the smallest node, an empty combination, in bytes.
const LEAST_NODE: u64 = 10;

impl Condition {
    /// Parses a condition.
    ///
    /// `limits.depth` limits the nesting, `limits.condition_nodes` the number of nodes.
    ///
    /// # Errors
    /// Fails if the bytes are not a condition or exceed a limit.
    pub fn parse(reader: &mut ByteReader<'_>, limits: &Limits) -> Result<Self, DecodeError> {
        let mut left = limits.condition_nodes;
        reader.group(|| "condition".to_owned(), |reader| parse_node(reader, limits, limits.depth, &mut left))
    }

    /// Writes the condition, the inverse of [`parse`](Self::parse).
    ///
    /// Writes the bytes of literals unchanged. Call [`to_stored`](Self::to_stored) first to convert
    /// numbers and text to bytes of cells.
    ///
    /// # Errors
    /// - [`ConditionError::NullTest`]: the format has no test for null. A comparison with an empty
    ///   value compares a string field with the empty string. On a fixed-size field, such a
    ///   comparison makes the array unreadable for the reference library.
    /// - [`ConditionError::NanTest`]: the format has no test for NaN.
    ///
    /// After an error, `writer` may contain a part of the condition.
    pub fn write(&self, writer: &mut ByteWriter) -> Result<()> {
        match self {
            Self::Compare { field, operator, value } => write_leaf(writer, operator.code(), field, value.bytes()),
            Self::Member { field, negated, values } => {
                write_leaf(writer, if *negated { NOT_IN } else { IN }, field, values.data());
                writer.u64(8 * values.offsets().len() as u64);
                writer.u64_list(values.offsets());
            }
            Self::Null { field, .. } => return Err(ConditionError::NullTest { field: field.clone() }),
            Self::Nan { field, .. } => return Err(ConditionError::NanTest { field: field.clone() }),
            Self::Constant { field, truth, value } => {
                write_leaf(writer, if *truth { ALWAYS_TRUE } else { ALWAYS_FALSE }, field, value);
            }
            Self::And(nodes) => write_nodes(writer, AND, nodes)?,
            Self::Or(nodes) => write_nodes(writer, OR, nodes)?,
            Self::Not(node) => write_nodes(writer, NOT, std::slice::from_ref(node))?,
        }
        Ok(())
    }

    /// Parses the file of a delete commit, a generic tile. The condition is true of the cells to
    /// keep.
    ///
    /// # Errors
    /// Fails if the bytes are not a generic tile with a condition, are encrypted, or exceed a
    /// limit.
    pub fn parse_file(bytes: &[u8], limits: &Limits, spans: Option<&Spans>) -> Result<Self> {
        Self::parse_tile(&GenericTile::parse_file(bytes, limits, spans)?, limits, spans)
    }

    /// Parses a delete commit from an unfiltered generic tile, for example after decryption.
    ///
    /// # Errors
    /// Fails if the payload is not a condition or exceeds a limit.
    pub fn parse_tile(tile: &GenericTile, limits: &Limits, spans: Option<&Spans>) -> Result<Self> {
        Ok(tile.parse_payload(spans, |reader| Self::parse(reader, limits))?)
    }

    /// Returns the bytes of a delete commit, with `version` in the header of the generic tile.
    ///
    /// `self` must be true of the cells to keep.
    ///
    /// # Errors
    /// As [`write`](Self::write). Also fails if the build does not include zlib.
    pub fn to_file(&self, version: FormatVersion) -> Result<Vec<u8>> {
        let mut payload = ByteWriter::new();
        self.write(&mut payload)?;
        let mut file = ByteWriter::new();
        GenericTileEncoder::new(version).encode(payload.as_slice(), &mut file)?;
        Ok(file.into_bytes())
    }
}

fn write_leaf(writer: &mut ByteWriter, operator: u8, field: &str, value: &[u8]) {
    writer.bool(true);
    writer.u8(operator);
    writer.string_u32(field);
    writer.u64(value.len() as u64);
    writer.bytes(value);
}

fn write_nodes(writer: &mut ByteWriter, operator: u8, nodes: &[impl std::borrow::Borrow<Condition>]) -> Result<()> {
    writer.bool(false);
    writer.u8(operator);
    writer.u64(nodes.len() as u64);
    nodes.iter().try_for_each(|node| node.borrow().write(writer))
}

/// Parses a node. `depth` levels and `left` nodes are still allowed.
fn parse_node(
    reader: &mut ByteReader<'_>,
    limits: &Limits,
    depth: u32,
    left: &mut u32,
) -> Result<Condition, DecodeError> {
    let offset = reader.offset();
    let exceeded = |limit, max: u32| {
        let kind = DecodeErrorKind::LimitExceeded { limit, asked: u64::from(max) + 1, max: u64::from(max) };
        DecodeError::new(kind, "node", offset)
    };
    let depth = depth.checked_sub(1).ok_or_else(|| exceeded("depth", limits.depth))?;
    *left = left.checked_sub(1).ok_or_else(|| exceeded("condition_nodes", limits.condition_nodes))?;
    let is_comparison = reader.bool("node")?;
    reader.explain(|| if is_comparison { "comparison" } else { "combination" }.to_owned());
    if is_comparison { parse_leaf(reader) } else { parse_nodes(reader, limits, depth, left) }
}

fn parse_leaf(reader: &mut ByteReader<'_>) -> Result<Condition, DecodeError> {
    let offset = reader.offset();
    let code = reader.u8("operator")?;
    reader.explain(|| symbol(code).to_owned());
    if symbol(code).is_empty() {
        return Err(DecodeError::invalid("operator", offset, code, "a code from 0 to 7, 253 or 254"));
    }
    let field = reader.string_u32("field")?;
    let length = reader.u64("length")?;
    let value = reader.bytes("value", length)?.to_vec();
    Ok(match (Operator::from_code(code), code) {
        (Some(operator), _) => Condition::Compare { field, operator, value: value.into() },
        (None, IN | NOT_IN) => {
            let values = parse_members(reader, value)?;
            Condition::Member { field, negated: code == NOT_IN, values }
        }
        (None, _) => Condition::Constant { field, truth: code == ALWAYS_TRUE, value },
    })
}

/// Returns the symbol of an operator, or an empty string for an unknown code.
fn symbol(code: u8) -> &'static str {
    match (Operator::from_code(code), code) {
        (Some(operator), _) => operator.symbol(),
        (None, IN) => "in",
        (None, NOT_IN) => "not in",
        (None, ALWAYS_TRUE) => "always true",
        (None, ALWAYS_FALSE) => "always false",
        (None, _) => "",
    }
}

fn parse_members(reader: &mut ByteReader<'_>, data: Vec<u8>) -> Result<Members, DecodeError> {
    let offset = reader.offset();
    let length = reader.u64("length of the offsets")?;
    if !length.is_multiple_of(8) {
        return Err(DecodeError::invalid("length of the offsets", offset, length, "a multiple of 8"));
    }
    let offset = reader.offset();
    let offsets = reader.u64_list("offsets", length / 8)?;
    let found = offsets.len();
    Members::from_parts(data, offsets).ok_or_else(|| {
        let found = format!("{found} offsets");
        DecodeError::invalid("offsets", offset, found, "ascending offsets from 0 within the values")
    })
}

fn parse_nodes(
    reader: &mut ByteReader<'_>,
    limits: &Limits,
    depth: u32,
    left: &mut u32,
) -> Result<Condition, DecodeError> {
    let name = |code: u8| ["and", "or", "not"].get(usize::from(code)).copied();
    let operator = reader.code("operator", "0 (and), 1 (or) or 2 (not)", name)?;
    let offset = reader.offset();
    let count = reader.u64("count")?;
    let count = reader.count("nodes", count, LEAST_NODE)?;
    if operator == "not" && count != 1 {
        return Err(DecodeError::invalid("count", offset, count, "1 operand of a negation"));
    }
    let node = |index| reader.group(|| format!("{operator} {index}"), |reader| parse_node(reader, limits, depth, left));
    let mut nodes = (0..count).map(node).collect::<Result<Vec<_>, _>>()?;
    Ok(match (operator, nodes.pop()) {
        ("not", Some(node)) => Condition::Not(Box::new(node)),
        (operator, last) => {
            nodes.extend(last);
            if operator == "or" { Condition::Or(nodes) } else { Condition::And(nodes) }
        }
    })
}

/// An update commit: new values for the cells that match a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The condition on the cells to update.
    pub condition: Condition,
    /// Names of fields, and the bytes of their new values.
    pub values: Vec<(String, Vec<u8>)>,
}

impl Update {
    /// Parses an update commit.
    ///
    /// # Errors
    /// Fails if the bytes are not an update commit, or if the condition exceeds a limit.
    pub fn parse(reader: &mut ByteReader<'_>, limits: &Limits) -> Result<Self, DecodeError> {
        let condition = Condition::parse(reader, limits)?;
        let count = reader.u64("count of new values")?;
        let count = reader.count("new values", count, 16)?;
        let value = |reader: &mut ByteReader<'_>| {
            let field = reader.string_u64("field")?;
            let length = reader.u64("length")?;
            Ok((field, reader.bytes("value", length)?.to_vec()))
        };
        let values = (0..count).map(|index| reader.group(|| format!("new value {index}"), value));
        let values = values.collect::<Result<_, DecodeError>>()?;
        Ok(Self { condition, values })
    }

    /// Writes the update, the inverse of [`parse`](Self::parse).
    ///
    /// Writes the bytes of literals unchanged. Call [`to_stored`](Condition::to_stored) first to
    /// convert numbers and text to bytes of cells.
    ///
    /// # Errors
    /// See [`Condition::write`].
    pub fn write(&self, writer: &mut ByteWriter) -> Result<()> {
        self.condition.write(writer)?;
        writer.u64(self.values.len() as u64);
        for (field, value) in &self.values {
            writer.string_u64(field);
            writer.u64(value.len() as u64);
            writer.bytes(value);
        }
        Ok(())
    }
}
