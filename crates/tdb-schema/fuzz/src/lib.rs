//! Properties of parsers that must hold for arbitrary bytes. Called by the drivers in
//! `fuzz_targets` and by the ordinary tests.
//!
//! The input is the payload of a generic tile: the unfiltered contents of a schema or enumeration
//! file.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use tdb_schema::global_order::GlobalOrder;
use tdb_schema::hilbert::CoordinateColumn;
use tdb_schema::{ArraySchema, Dimension, Enumeration};
use tdb_types::{ByteReader, ByteWriter, Spans};

/// Checks that a parsed schema round-trips, with and without recorded spans. Calls the accessors to
/// check for panics.
pub fn schema(data: &[u8]) {
    let parsed = ArraySchema::parse(&mut ByteReader::new(data));
    let spans = Spans::new();
    let recorded = ArraySchema::parse(&mut ByteReader::new(data).recording(&spans, 0));
    assert_eq!(parsed.as_ref().ok(), recorded.as_ref().ok(), "a record changes nothing");
    let schema = match parsed {
        Ok(schema) => schema,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };

    let written = write(&schema);
    let again = ArraySchema::parse(&mut ByteReader::new(&written)).unwrap();
    assert_eq!(again, schema);
    assert_eq!(write(&again), written, "the same bytes again");
    assert!(!schema.dump().is_empty());

    for field in schema.fields() {
        assert_eq!(schema.field(schema.field_name(field).unwrap()), Some(field), "names differ");
        assert!(schema.field_type(field).is_some());
        let _ = schema.filters_of(field);
    }
    schema.dimensions().iter().for_each(tiles);
    if let Ok(cells) = schema.cells_per_tile() {
        assert!(cells > 0);
    }
    order(&schema);
}

fn write(schema: &ArraySchema) -> Vec<u8> {
    let mut writer = ByteWriter::new();
    schema.write(&mut writer).unwrap();
    writer.into_bytes()
}

/// Checks that tiles cover the domain without gaps.
fn tiles(dimension: &Dimension) {
    let Some((low, high)) = dimension.domain_keys() else { return };
    assert!(low <= high);
    if dimension.extent_cells().is_none() {
        return;
    }
    assert_eq!(dimension.tile_index(low), 0);
    let count = dimension.tile_count();
    let (first, _) = dimension.tile_range(0).unwrap();
    let (last, end) = dimension.tile_range(count - 1).unwrap();
    assert!(first == low && last <= high && high <= end);
    assert_eq!(dimension.tile_range(count), None);
    if count > 1 {
        let (_, before) = dimension.tile_range(count - 2).unwrap();
        assert_eq!(before + 1, last);
    }
}

/// Checks that the corners of the domain are in order.
fn order(schema: &ArraySchema) {
    let Ok(order) = GlobalOrder::new(schema) else { return };
    let corners: Vec<[u64; 2]> = schema
        .dimensions()
        .iter()
        .map(|dimension| dimension.domain_keys().map_or([0, 0], |(low, high)| [low, high]))
        .collect();
    let columns: Vec<_> = schema
        .dimensions()
        .iter()
        .zip(&corners)
        .map(|(dimension, keys)| match dimension.is_var() {
            true => CoordinateColumn::Strings { offsets: &[0, 1], values: b"ab" },
            false => CoordinateColumn::Keys(keys),
        })
        .collect();
    for word in 0..order.leading_word_count() {
        let mut words = Vec::new();
        order.leading_word(word, &columns, &mut words);
        assert_eq!(words.len(), 2);
        let counted = schema.dimensions().iter().all(|dimension| !dimension.datatype().is_float());
        assert!(words[0] <= words[1] || !counted || order.hilbert().is_some());
    }
}

/// Checks that a parsed enumeration round-trips to the same bytes and finds every value.
pub fn enumeration(data: &[u8]) {
    let mut reader = ByteReader::new(data);
    let enumeration = match Enumeration::parse(&mut reader) {
        Ok(enumeration) => enumeration,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let read = &data[..data.len() - reader.remaining()];
    let mut writer = ByteWriter::new();
    enumeration.write(&mut writer);
    assert_eq!(writer.as_slice(), read, "the same bytes again");

    let positions = enumeration.positions();
    assert_eq!(positions.len(), enumeration.len());
    assert_eq!(enumeration.values().map(<[u8]>::len).sum::<usize>(), enumeration.data().len());
    for (position, value) in enumeration.values().enumerate() {
        assert_eq!(positions.get(value), Some(&position));
    }
    assert_eq!(enumeration.value(enumeration.len()), None);
    assert!(!enumeration.dump().is_empty());
}
