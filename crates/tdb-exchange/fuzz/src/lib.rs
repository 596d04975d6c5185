//! Fuzz bodies for rows, cells and ranges. The drivers in `fuzz_targets` and the ordinary tests
//! call them.

#![allow(clippy::missing_panics_doc)]

use std::num::NonZeroU32;

use tdb_exchange::{CellKind, CellParser, Import, Inference, Input, RowsFormat, Source, range};
use tdb_schema::{ArrayDefinition, ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_types::{CellValNum, Datatype};

/// Reads CSV or JSON. The first byte selects the format. Line numbers never decrease. Schema
/// inference returns a schema or an error. An array of that schema accepts or rejects each row.
pub fn rows(data: &[u8]) {
    let Some((kind, bytes)) = data.split_first() else { return };
    let format = if kind % 2 == 0 { RowsFormat::Csv } else { RowsFormat::Json };
    let delimiter = if kind % 4 < 2 { b',' } else { b'\t' };
    let input = Input::bytes("bytes", bytes, format, Some(delimiter));
    let nulls = vec![String::new(), "NA".to_owned()];
    let (mut inference, mut last, mut rows) = (Inference::default(), 0, 0);
    let read = inference.read(&input, &nulls, |line, row| {
        assert!(line >= last, "line {line} after line {last}");
        (last, rows) = (line, rows + 1);
        assert!(row.is_ok() || row.is_err_and(|why| !why.is_empty()));
    });
    let Ok(schema) = inference.schema(&["x".to_owned()], &[], true) else { return };
    assert_eq!(schema.dimensions().len(), 1);
    let Ok(definition) = ArrayDefinition::new(schema) else { return };
    let source = Source::Rows { inputs: vec![input], nulls, types: Vec::new() };
    let mut import = Import::new(source);
    import.skip_rejects = true;
    if let Ok(checked) = import.check(&definition, &mut ()) {
        assert_eq!((read.is_ok(), checked.rows + checked.rejected), (true, rows));
    }
}

/// Parses a cell of CSV and JSON. The first two bytes select the type. A parsed cell prints, and
/// parses again, to the same text.
pub fn cell(data: &[u8]) {
    let Some(([datatype, number], text)) = data.split_first_chunk() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let datatype = Datatype::ALL[usize::from(*datatype) % Datatype::ALL.len()];
    let number = match number % 3 {
        0 => CellValNum::ONE,
        1 => NonZeroU32::new(3).map_or(CellValNum::ONE, CellValNum::Fixed),
        _ => CellValNum::Var,
    };
    let (parser, kind) = (CellParser::new(datatype, number), CellKind::of(datatype, number, false));
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
    if let Err(why) = parser.json_text(text, &mut bytes) {
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
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

fn schema() -> ArraySchema {
    let dimensions = [
        Dimension::new("i", -5i8..=5),
        Dimension::new("u", 0u64..=u64::MAX - 10).with_tile(10),
        Dimension::new("f", -1.0f32..=1.0),
        Dimension::new("t", i64::MIN + 1..=i64::MAX - 10).with_datatype(Datatype::DatetimeNs).with_tile(10),
        Dimension::string("s"),
    ];
    let builder = dimensions.into_iter().fold(SchemaBuilder::sparse(), SchemaBuilder::dimension);
    let schema = builder.attribute(Attribute::new("a", Datatype::Int8)).build();
    schema.unwrap_or_else(|error| unreachable!("{error}"))
}
