//! Bodies of the fuzz targets for rows, cells and ranges.

use std::num::NonZeroU32;
use std::sync::Arc;

use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_types::{CellValNum, Datatype, Scalar};

use crate::cells::{CellParser, Kind};
use crate::import::{Guesses, Input, RowsFormat};
use crate::range;

/// Reads CSV or JSON, chosen by the first byte. Line numbers never decrease; schema inference returns a schema or an error.
pub fn rows(data: &[u8]) {
    let Some((kind, bytes)) = data.split_first() else { return };
    let format = if kind % 2 == 0 { RowsFormat::Csv } else { RowsFormat::Json };
    let delimiter = if kind % 4 < 2 { b',' } else { b'\t' };
    let input = Input::of_bytes(Arc::from(bytes), format, delimiter);
    let Ok(mut rows) = input.rows() else { return };
    let nulls = [String::new(), "NA".to_owned()];
    let mut guesses = Guesses::default();
    guesses.begin(rows.columns());
    let mut last = 0;
    while let Ok(Some((line, row))) = rows.next(input.name()) {
        assert!(line >= last, "line {line} after line {last}");
        last = line;
        match row {
            Ok(row) => guesses.add(row, &nulls),
            Err(why) => assert!(!why.is_empty()),
        }
    }
    if let Ok(schema) = guesses.schema(&["x".to_owned()], &[], true) {
        assert_eq!(schema.dimensions().len(), 1);
    }
}

/// Parses a cell of CSV and JSON; the first two bytes choose the type. A parsed cell prints, and parses again, to the same text.
pub fn cell(data: &[u8]) {
    let Some(([datatype, number], text)) = data.split_first_chunk() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let datatype = Datatype::ALL[usize::from(*datatype) % Datatype::ALL.len()];
    let number = match number % 3 {
        0 => CellValNum::ONE,
        1 => NonZeroU32::new(3).map_or(CellValNum::ONE, CellValNum::Fixed),
        _ => CellValNum::Var,
    };
    let (parser, kind) = (CellParser::new(datatype, number), Kind::of(datatype, number, false));
    let mut bytes = Vec::new();
    match parser.text(text, &mut bytes) {
        Ok(()) => {
            let printed = kind.text(&bytes);
            let mut again = Vec::new();
            // NaT prints as null.
            if !kind.is_no_time(&bytes) {
                assert_eq!(parser.text(&printed, &mut again), Ok(()), "{datatype} {printed:?}");
                assert_eq!(kind.text(&again), printed, "{datatype}");
            }
        }
        Err(why) => assert!(!why.is_empty()),
    }
    bytes.clear();
    if let Ok(value) = serde_json::from_str(text)
        && let Err(why) = parser.json(&value, &mut bytes)
    {
        assert!(!why.is_empty());
    }
}

/// Parses points and ranges for dimensions of several types.
pub fn range(data: &[u8]) {
    let schema = schema();
    for dimension in schema.dimensions() {
        if let Err(why) = range::point(dimension, data) {
            assert!(!why.is_empty());
        }
        let Ok(text) = std::str::from_utf8(data) else { continue };
        match range::of_integers(&schema, &format!("{}={text}", dimension.name())) {
            Ok((name, _)) => assert_eq!(name, dimension.name()),
            Err(failure) => assert!(!failure.message().is_empty()),
        }
    }
}

fn schema() -> ArraySchema {
    let dimensions = [
        Dimension::new("i", Datatype::Int8, Scalar::I8(-5), Scalar::I8(5)),
        Dimension::new("u", Datatype::UInt64, Scalar::U64(0), Scalar::U64(u64::MAX - 10))
            .with_tile_extent(Scalar::U64(10)),
        Dimension::new("f", Datatype::Float32, Scalar::F32(-1.0), Scalar::F32(1.0)),
        Dimension::new("t", Datatype::DatetimeNs, Scalar::I64(i64::MIN + 1), Scalar::I64(i64::MAX - 10))
            .with_tile_extent(Scalar::I64(10)),
        Dimension::string("s"),
    ];
    let builder = dimensions.into_iter().fold(SchemaBuilder::sparse(), SchemaBuilder::dimension);
    let schema = builder.attribute(Attribute::new("a", Datatype::Int8)).build();
    schema.unwrap_or_else(|error| unreachable!("{error}"))
}
