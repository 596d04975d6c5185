//! The byte format of query parts.
//! ```text
//! "tdb part" | u8 version, 1
//! location | u64 first millisecond | u64 last millisecond | schema | u32 count, fragments | u32 count, deletes | u64 weight
//! u8 selected? [u32 count, names]
//! u32 dimensions | for each: u32 count, ranges
//! u8 boxes? [u32 count | for each dimension: count × range]
//! u8 order | u8 filter? [condition] | u8 only matching | three times: u8 there? [u64]
//!
//! text:  u32 length | bytes in UTF-8
//! range: u8 0 | u64 lowest key | u64 highest key
//!        u8 1 included, 2 excluded, 3 unbounded | u32 length, lowest string | [u32 length, end] unless unbounded
//! ```

use std::ops::Bound;

use tdb_cells::Order;
use tdb_condition::Condition;
use tdb_rtree::DimRange;
use tdb_snapshot::{Pin, TimeRange};
use tdb_types::{ByteReader, ByteWriter, DecodeError, DecodeErrorKind, saturating_len};

use super::part::QueryPart;
use crate::query::QuerySpec;

const MAGIC: &[u8] = b"tdb part";
const VERSION: u8 = 1;
/// The minimum size of a text in bytes.
const LEAST_TEXT: u64 = 4;
const LEAST_RANGE: u64 = 5;
const ORDERS: [Order; 4] = [Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered];

type Result<T> = std::result::Result<T, DecodeError>;

impl QueryPart {
    /// Serializes the part for another process.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        write(self)
    }

    /// Parses a serialized part. Damaged or forged bytes result in an error, or in a query of the
    /// array named in the bytes.
    ///
    /// # Errors
    /// The bytes are not from [`to_bytes`](Self::to_bytes), or have another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        parse(bytes)
    }
}

fn write(part: &QueryPart) -> Vec<u8> {
    let QueryPart { location, time, snapshot, spec, weight } = part;
    let mut writer = ByteWriter::new();
    writer.bytes(MAGIC);
    writer.u8(VERSION);
    writer.string_u32(location);
    writer.u64(time.start);
    writer.u64(time.end);
    writer.string_u32(&snapshot.schema);
    write_texts(&mut writer, &snapshot.fragments);
    write_texts(&mut writer, &snapshot.deletes);
    writer.u64(*weight);
    write_spec(&mut writer, spec);
    writer.into_bytes()
}

fn parse(bytes: &[u8]) -> Result<QueryPart> {
    let mut reader = ByteReader::new(bytes);
    reader.group(|| "part of a query".to_owned(), parse_part).and_then(|part| reader.finish("part").map(|()| part))
}

fn parse_part(reader: &mut ByteReader<'_>) -> Result<QueryPart> {
    let offset = reader.offset();
    let magic = reader.bytes("magic", MAGIC.len() as u64)?;
    if magic != MAGIC {
        return Err(DecodeError::invalid("magic", offset, magic.escape_ascii(), "\"tdb part\""));
    }
    let offset = reader.offset();
    let found = u32::from(reader.u8("version")?);
    if found != u32::from(VERSION) {
        let (min, max) = (u32::from(VERSION), u32::from(VERSION));
        return Err(DecodeError::new(DecodeErrorKind::UnsupportedVersion { found, min, max }, "version", offset));
    }
    Ok(QueryPart {
        location: reader.string_u32("location")?,
        time: TimeRange { start: reader.u64("first millisecond")?, end: reader.u64("last millisecond")? },
        snapshot: Pin {
            schema: reader.string_u32("schema")?,
            fragments: parse_texts(reader, "fragments")?,
            deletes: parse_texts(reader, "deletes")?,
        },
        weight: reader.u64("weight")?,
        spec: parse_spec(reader)?,
    })
}

fn write_spec(writer: &mut ByteWriter, spec: &QuerySpec) {
    writer.bool(spec.selected.is_some());
    spec.selected.iter().for_each(|names| write_texts(writer, names));
    writer.u32(spec.ranges.len() as u32);
    for ranges in &spec.ranges {
        writer.u32(ranges.len() as u32);
        ranges.iter().for_each(|range| write_range(writer, range));
    }
    writer.bool(spec.boxes.is_some());
    if let Some(boxes) = &spec.boxes {
        writer.u32(boxes.first().map_or(0, Vec::len) as u32);
        boxes.iter().flatten().for_each(|range| write_range(writer, range));
    }
    writer.u8(ORDERS.iter().position(|order| *order == spec.order).unwrap_or_default() as u8);
    writer.bool(spec.filter.is_some());
    spec.filter.iter().for_each(|filter| filter.write_portable(writer));
    writer.bool(spec.only_matching);
    for number in [spec.budget, spec.batch_cells, spec.batch_bytes] {
        writer.bool(number.is_some());
        number.iter().for_each(|number| writer.u64(*number as u64));
    }
}

fn parse_spec(reader: &mut ByteReader<'_>) -> Result<QuerySpec> {
    let selected = if reader.bool("selected")? { Some(parse_texts(reader, "selected")?) } else { None };
    let dimensions = reader.u32("dimensions")?;
    let dimensions = reader.count("dimensions", dimensions.into(), 4)?;
    let mut of_dimension = || reader.u32("ranges").and_then(|count| parse_ranges(reader, count));
    let ranges = (0..dimensions).map(|_| of_dimension()).collect::<Result<_>>()?;
    let boxes = match reader.bool("boxes")? {
        true => {
            let count = reader.u32("boxes")?;
            Some((0..dimensions).map(|_| parse_ranges(reader, count)).collect::<Result<_>>()?)
        }
        false => None,
    };
    let order = reader.code("order", "a code from 0 to 3", |code| ORDERS.get(usize::from(code)).copied())?;
    let filter = if reader.bool("filter")? { Some(Condition::parse_portable(reader)?) } else { None };
    let only_matching = reader.bool("only matching")?;
    let mut number = |field| Ok(if reader.bool(field)? { Some(saturating_len(reader.u64(field)?)) } else { None });
    let (budget, batch_cells, batch_bytes) = (number("budget")?, number("batch cells")?, number("batch bytes")?);
    Ok(QuerySpec { selected, ranges, boxes, order, filter, only_matching, budget, batch_cells, batch_bytes })
}

fn write_texts(writer: &mut ByteWriter, texts: &[String]) {
    writer.u32(texts.len() as u32);
    texts.iter().for_each(|text| writer.string_u32(text));
}

fn parse_texts(reader: &mut ByteReader<'_>, field: &'static str) -> Result<Vec<String>> {
    let count = reader.u32(field)?;
    let count = reader.count(field, count.into(), LEAST_TEXT)?;
    // Memory is not reserved ahead of reading.
    (0..count).map(|_| reader.string_u32(field)).collect()
}

fn write_range(writer: &mut ByteWriter, range: &DimRange) {
    let write = |writer: &mut ByteWriter, string: &[u8]| {
        writer.u32(string.len() as u32);
        writer.bytes(string);
    };
    let (lo, hi) = match range {
        DimRange::Fixed { lo, hi } => {
            writer.u8(0);
            writer.u64(*lo);
            return writer.u64(*hi);
        }
        DimRange::Var { lo, hi } => (lo, hi),
    };
    let (code, end) = match hi {
        Bound::Included(end) => (1, Some(end)),
        Bound::Excluded(end) => (2, Some(end)),
        Bound::Unbounded => (3, None),
    };
    writer.u8(code);
    write(writer, lo);
    end.into_iter().for_each(|end| write(writer, end));
}

fn parse_ranges(reader: &mut ByteReader<'_>, count: u32) -> Result<Vec<DimRange>> {
    let count = reader.count("ranges", count.into(), LEAST_RANGE)?;
    (0..count).map(|_| parse_range(reader)).collect()
}

fn parse_range(reader: &mut ByteReader<'_>) -> Result<DimRange> {
    let offset = reader.offset();
    let string = |reader: &mut ByteReader<'_>| {
        let len = reader.u32("length")?;
        Ok::<_, DecodeError>(reader.bytes("string", len.into())?.to_vec())
    };
    Ok(match reader.u8("range")? {
        0 => DimRange::Fixed { lo: reader.u64("lowest key")?, hi: reader.u64("highest key")? },
        1 => DimRange::Var { lo: string(reader)?, hi: Bound::Included(string(reader)?) },
        2 => DimRange::Var { lo: string(reader)?, hi: Bound::Excluded(string(reader)?) },
        3 => DimRange::Var { lo: string(reader)?, hi: Bound::Unbounded },
        other => return Err(DecodeError::invalid("range", offset, other, "a code from 0 to 3")),
    })
}
