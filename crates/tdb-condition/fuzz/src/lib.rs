//! What must hold for any bytes. The drivers in `fuzz_targets` call these, and so do the ordinary tests.
//!
//! Input: the payload of a delete or update commit. What follows the condition are the cells that it is evaluated over.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use tdb_condition::{Condition, Update};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_types::{ByteReader, ByteWriter, CellValNum, Cells, Datatype, Limits, Offsets, Scalar, Spans, Validity};

/// How many cells conditions are evaluated over.
const CELLS: usize = 5;

/// A condition that parses is written as the bytes that it was read from, recorded or not; it prints; its negation's
/// negation is itself without NOT; and evaluated over any cells it is never true together with its negation.
pub fn condition(data: &[u8]) {
    let mut reader = ByteReader::new(data);
    let parsed = Condition::parse(&mut reader, &Limits::SMALL);
    let spans = Spans::new();
    let recorded = Condition::parse(&mut ByteReader::new(data).recording(&spans, 0), &Limits::SMALL);
    assert_eq!(parsed, recorded, "a record changes nothing");
    let Ok(condition) = parsed else { return };

    let (read, rest) = data.split_at(data.len() - reader.remaining());
    let mut writer = ByteWriter::new();
    condition.write(&mut writer).unwrap();
    assert_eq!(writer.as_slice(), read, "the same bytes again");
    assert_eq!(condition.negation().negation(), condition.without_not());
    let schema = schema();
    assert!(!condition.to_string().is_empty() && !condition.display(&schema).to_string().is_empty());

    let Ok(bound) = condition.bind_stored(&schema, &schema) else { return };
    let negated = condition.negation().bind_stored(&schema, &schema).unwrap();
    let mut columns = Columns::default();
    columns.fill(&bound, rest);
    let cells = columns.cells();
    let (mut truth, mut opposite) = ([true; CELLS], [true; CELLS]);
    bound.evaluate(&cells, &mut truth);
    negated.evaluate(&cells, &mut opposite);
    assert!(truth.iter().zip(&opposite).all(|(truth, opposite)| !(truth & opposite)), "{condition}: {cells:?}");
    // Without its fields only constants are left.
    bound.evaluate(&vec![None; cells.len()], &mut truth);
}

/// An update that parses is written as the bytes that it was read from.
pub fn update(data: &[u8]) {
    let mut reader = ByteReader::new(data);
    let Ok(update) = Update::parse(&mut reader, &Limits::SMALL) else { return };
    let mut writer = ByteWriter::new();
    update.write(&mut writer).unwrap();
    assert_eq!(writer.as_slice(), &data[..data.len() - reader.remaining()], "the same bytes again");
}

/// A schema with fields of every kind, whose names are single letters.
pub fn schema() -> ArraySchema {
    let mut builder =
        SchemaBuilder::sparse().dimension(Dimension::new("x", Datatype::Int32, Scalar::I32(0), Scalar::I32(99)));
    let kinds = [
        ("a", Datatype::Int32, CellValNum::ONE),
        ("b", Datatype::UInt8, CellValNum::ONE),
        ("c", Datatype::Float64, CellValNum::ONE),
        ("d", Datatype::StringAscii, CellValNum::Var),
        ("e", Datatype::Char, CellValNum::ONE),
        ("f", Datatype::DatetimeNs, CellValNum::ONE),
        ("g", Datatype::Blob, CellValNum::Var),
        ("h", Datatype::UInt16, CellValNum::ONE),
    ];
    for (name, datatype, values) in kinds {
        let attribute = Attribute::new(name, datatype).with_cell_val_num(values);
        builder = builder.attribute(if name < "d" { attribute.nullable(false) } else { attribute });
    }
    builder.build().unwrap()
}

/// Cells made of whatever bytes there are.
#[derive(Default)]
struct Columns(Vec<Column>);

/// Values, and bytes of a cell or offsets of cells of variable length, validity.
type Column = (Vec<u8>, Result<usize, Vec<u64>>, Option<Vec<u8>>);

impl Columns {
    fn fill(&mut self, bound: &tdb_condition::BoundCondition, bytes: &[u8]) {
        let mut bytes = bytes.iter().copied().chain(std::iter::repeat(0));
        for field in bound.fields() {
            let size = field.cells.cell_size().map_or(1, |size| size as usize);
            let values = bytes.by_ref().take(CELLS * size).collect();
            let extents = if field.cells.is_var() { Err((0..=CELLS as u64).collect()) } else { Ok(size) };
            let validity = field.cells.nullable.then(|| bytes.by_ref().take(CELLS).map(|byte| byte & 1).collect());
            self.0.push((values, extents, validity));
        }
    }

    fn cells(&self) -> Vec<Option<Cells<'_>>> {
        let columns = self.0.iter().map(|(data, extents, validity)| {
            let cells = match extents {
                Err(offsets) => Cells::var(Offsets::in_bytes(offsets), data),
                Ok(size) => Cells::fixed(data, *size),
            };
            Some(cells.with_validity(validity.as_deref().map(Validity::Bytes)))
        });
        columns.collect()
    }
}
