//! Portable encoding of conditions, to send them to another process.
//!
//! Unlike the format of [delete commits](crate::Condition::write), this encoding has tests for null
//! and NaN. It also keeps the kind of each value: bytes of a cell, number or text. Decoding returns
//! an equal condition.
//!
//! ```text
//! node:    u8 0 comparison | u8 operator | field | value
//!          u8 1 membership | u8 negated | field | u8 kind | u32 count | count × bytes
//!          u8 2 null       | u8 negated | field
//!          u8 3 constant   | u8 truth | field | bytes
//!          u8 4 and, 5 or  | u32 count | count × node
//!          u8 6 not        | node
//!          u8 7 NaN        | u8 negated | field
//! value:   u8 kind | bytes
//! field, bytes: u32 length | bytes
//! ```

use tdb_types::{ByteReader, ByteWriter, DecodeError, DecodeErrorKind, PhysicalType};

use crate::literal::{Literal, LiteralKind};
use crate::tree::{Condition, Members, Operator};

const COMPARE: u8 = 0;
const MEMBER: u8 = 1;
const NULL: u8 = 2;
const CONSTANT: u8 = 3;
const AND: u8 = 4;
const OR: u8 = 5;
const NOT: u8 = 6;
const NAN: u8 = 7;

/// The maximum depth of conditions, equal to the limit for binding.
const DEEPEST: u32 = 1000;

/// The size of the smallest node, an empty combination, in bytes.
const LEAST_NODE: u64 = 5;

const CELL: u8 = 0;
const TEXT: u8 = 1;
/// The types of numbers, for kinds from code 2 on.
const NUMBERS: [PhysicalType; 10] = [
    PhysicalType::U8,
    PhysicalType::I8,
    PhysicalType::U16,
    PhysicalType::I16,
    PhysicalType::U32,
    PhysicalType::I32,
    PhysicalType::U64,
    PhysicalType::I64,
    PhysicalType::F32,
    PhysicalType::F64,
];

impl Condition {
    /// Writes the encoding that [`parse_portable`](Self::parse_portable) reads.
    pub fn write_portable(&self, writer: &mut ByteWriter) {
        match self {
            Self::Compare { field, operator, value } => {
                writer.u8(COMPARE);
                writer.u8(operator.code());
                writer.string_u32(field);
                writer.u8(code(value.kind()));
                write_bytes(writer, value.bytes());
            }
            Self::Member { field, negated, values } => {
                writer.u8(MEMBER);
                writer.bool(*negated);
                writer.string_u32(field);
                writer.u8(code(values.kind()));
                writer.u32(values.iter().len() as u32);
                values.iter().for_each(|value| write_bytes(writer, value));
            }
            Self::Null { field, negated } => {
                writer.u8(NULL);
                writer.bool(*negated);
                writer.string_u32(field);
            }
            Self::Nan { field, negated } => {
                writer.u8(NAN);
                writer.bool(*negated);
                writer.string_u32(field);
            }
            Self::Constant { field, truth, value } => {
                writer.u8(CONSTANT);
                writer.bool(*truth);
                writer.string_u32(field);
                write_bytes(writer, value);
            }
            Self::And(nodes) => write_nodes(writer, AND, nodes),
            Self::Or(nodes) => write_nodes(writer, OR, nodes),
            Self::Not(node) => {
                writer.u8(NOT);
                node.write_portable(writer);
            }
        }
    }

    /// Parses the encoding written by [`write_portable`](Self::write_portable).
    ///
    /// The maximum depth is 1000. Memory use is proportional to the number of bytes.
    ///
    /// # Errors
    /// Fails if the bytes are not a condition or nested too deep.
    pub fn parse_portable(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        parse_node(reader, DEEPEST)
    }
}

fn code(kind: LiteralKind) -> u8 {
    match kind {
        LiteralKind::Cell => CELL,
        LiteralKind::Text => TEXT,
        LiteralKind::Number(physical) => {
            let place = NUMBERS.iter().position(|known| *known == physical).unwrap_or_default();
            TEXT + 1 + place as u8
        }
    }
}

fn kind(code: u8) -> Option<LiteralKind> {
    match code {
        CELL => Some(LiteralKind::Cell),
        TEXT => Some(LiteralKind::Text),
        number => NUMBERS.get(usize::from(number.checked_sub(TEXT + 1)?)).copied().map(LiteralKind::Number),
    }
}

fn write_bytes(writer: &mut ByteWriter, bytes: &[u8]) {
    writer.u32(bytes.len() as u32);
    writer.bytes(bytes);
}

fn write_nodes(writer: &mut ByteWriter, operator: u8, nodes: &[Condition]) {
    writer.u8(operator);
    writer.u32(nodes.len() as u32);
    nodes.iter().for_each(|node| node.write_portable(writer));
}

fn parse_node(reader: &mut ByteReader<'_>, depth: u32) -> Result<Condition, DecodeError> {
    let offset = reader.offset();
    let Some(depth) = depth.checked_sub(1) else {
        let (limit, max) = ("depth", u64::from(DEEPEST));
        return Err(DecodeError::new(DecodeErrorKind::LimitExceeded { limit, asked: max + 1, max }, "node", offset));
    };
    match reader.u8("node")? {
        AND => parse_nodes(reader, depth).map(Condition::And),
        OR => parse_nodes(reader, depth).map(Condition::Or),
        NOT => parse_node(reader, depth).map(|node| Condition::Not(Box::new(node))),
        // Leaves have a separate function, to keep the stack frames of recursive calls small.
        other => parse_leaf(reader, other, offset),
    }
}

fn parse_leaf(reader: &mut ByteReader<'_>, code: u8, offset: u64) -> Result<Condition, DecodeError> {
    Ok(match code {
        COMPARE => {
            let operator = reader.code("operator", "a code from 0 to 5", Operator::from_code)?;
            let field = reader.string_u32("field")?;
            let kind = parse_kind(reader)?;
            let value = Literal::new(kind, parse_value(reader, kind)?);
            Condition::Compare { field, operator, value }
        }
        MEMBER => {
            let negated = reader.bool("negated")?;
            let field = reader.string_u32("field")?;
            Condition::Member { field, negated, values: parse_members(reader)? }
        }
        NULL => Condition::Null { negated: reader.bool("negated")?, field: reader.string_u32("field")? },
        NAN => Condition::Nan { negated: reader.bool("negated")?, field: reader.string_u32("field")? },
        CONSTANT => {
            let truth = reader.bool("truth")?;
            let field = reader.string_u32("field")?;
            Condition::Constant { field, truth, value: parse_value(reader, LiteralKind::Cell)? }
        }
        other => return Err(DecodeError::invalid("node", offset, other, "a code from 0 to 7")),
    })
}

fn parse_nodes(reader: &mut ByteReader<'_>, depth: u32) -> Result<Vec<Condition>, DecodeError> {
    let count = reader.u32("count")?;
    let count = reader.count("nodes", count.into(), LEAST_NODE)?;
    // Nodes in memory are much larger than encoded nodes. No memory is reserved in advance.
    (0..count).map(|_| parse_node(reader, depth)).collect()
}

fn parse_kind(reader: &mut ByteReader<'_>) -> Result<LiteralKind, DecodeError> {
    reader.code("kind of value", "a code from 0 to 11", kind)
}

fn parse_members(reader: &mut ByteReader<'_>) -> Result<Members, DecodeError> {
    let kind = parse_kind(reader)?;
    let count = reader.u32("count")?;
    let count = reader.count("values", count.into(), 4)?;
    let mut members = Members::of_kind(kind, std::iter::empty::<&[u8]>());
    for _ in 0..count {
        let offset = reader.offset();
        let value = Literal::new(kind, parse_value(reader, kind)?);
        members.push(value).map_err(|_| DecodeError::invalid("value", offset, "another kind", "one kind"))?;
    }
    Ok(members)
}

/// Parses a value. The length of a number must match its type, and text must be UTF-8.
fn parse_value(reader: &mut ByteReader<'_>, kind: LiteralKind) -> Result<Vec<u8>, DecodeError> {
    let offset = reader.offset();
    let len = reader.u32("length")?;
    match kind {
        LiteralKind::Text => Ok(reader.string("text", len.into())?.into_bytes()),
        LiteralKind::Number(physical) if len as usize != physical.size() => {
            Err(DecodeError::invalid("length", offset, len, "the size of the number's type"))
        }
        _ => Ok(reader.bytes("value", len.into())?.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field;

    fn round_trip(condition: &Condition) -> Result<Condition, DecodeError> {
        let mut writer = ByteWriter::new();
        condition.write_portable(&mut writer);
        let mut reader = ByteReader::new(writer.as_slice());
        let read = Condition::parse_portable(&mut reader)?;
        reader.finish("condition")?;
        Ok(read)
    }

    #[test]
    fn written_conditions_parse() {
        let all = [
            field("a").lt(3) & field("b").gt(-0.0_f64) & !field("c").is_null(),
            field("é").eq("it's") | field("x y").is_in(["a", ""]),
            field("f").eq(f32::from_bits(0x7fc0_0123)) | field("b").eq(true) & field("n").ne(u64::MAX),
            field("raw").eq(&b"\xff\0"[..]),
            field("none").is_in(Vec::<i64>::new()),
            field("f").is_nan() | field("g").is_not_nan(),
            Condition::And(vec![]),
            Condition::Or(vec![Condition::Not(Box::new(Condition::And(vec![field("a").ge(i8::MIN)])))]),
            Condition::Constant { field: "q".to_owned(), truth: true, value: vec![1, 2] },
            "day = 2024-02 and not (t in (1, 2)) and s is not null".parse().unwrap(),
        ];
        for condition in all {
            assert_eq!(round_trip(&condition).unwrap(), condition);
        }
    }

    #[test]
    fn damaged_and_deep_conditions_are_rejected() {
        let condition = field("a").is_in([1i64, 2]) & field("s").eq("text") & field("a").lt(7);
        let mut writer = ByteWriter::new();
        condition.write_portable(&mut writer);
        let bytes = writer.into_bytes();
        for end in 0..bytes.len() {
            assert!(Condition::parse_portable(&mut ByteReader::new(&bytes[..end])).is_err(), "{end}");
        }
        let deep = vec![NOT; 1 << 20];
        let error = Condition::parse_portable(&mut ByteReader::new(&deep)).unwrap_err();
        assert!(matches!(error.kind(), DecodeErrorKind::LimitExceeded { limit: "depth", .. }), "{error}");
        let many = [&[AND][..], &u32::MAX.to_le_bytes()].concat();
        let error = Condition::parse_portable(&mut ByteReader::new(&many)).unwrap_err();
        assert!(matches!(error.kind(), DecodeErrorKind::Truncated { .. }), "{error}");
    }
}
