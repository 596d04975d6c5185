//! Converts every fixture to Arrow, and back into a new array.

use std::ops::RangeInclusive;

use arrow_array::RecordBatchReader as _;
use tdb_arrow::tdb_array::tdb_filters::Filter;
use tdb_arrow::tdb_array::tdb_schema::{ArrayDefinition, ArraySchema, FieldRef, SchemaError};
use tdb_arrow::tdb_array::{Array, Column, Coordinate, Order, Query};
use tdb_arrow::{ArrowOptions, Reader, cells, definition, schema};

use crate::support::{InMemory, every_array, open};

/// Replaces the random file names of enumerations in the schema.
fn placed(definition: &ArrayDefinition) -> ArraySchema {
    definition.clone().place_enumerations(|| Ok::<_, SchemaError>("e".to_owned())).unwrap().schema().clone()
}

/// Restricts a query to the non-empty domain, which includes empty cells of a dense array.
fn within(query: Query, schema: &ArraySchema, ends: &[RangeInclusive<Coordinate>]) -> Query {
    let dimensions = schema.dimensions().iter().zip(ends);
    dimensions.fold(query, |query, (dimension, ends)| query.range(dimension.name(), ends.clone()).unwrap())
}

/// `true` if filters may change cell values.
fn is_lossy(schema: &ArraySchema) -> bool {
    let lossy = |filter: &Filter| matches!(filter, Filter::FloatScale { .. } | Filter::WebP(_));
    schema.fields().any(|field: FieldRef| schema.filters_of(field).filters.iter().any(lossy))
}

/// Returns the fields of each cell as bytes. Dense arrays in row-major order, others sorted,
/// because the order of duplicates is undefined.
fn all_cells(array: &Array, ends: &[RangeInclusive<Coordinate>]) -> Vec<Vec<Option<Vec<u8>>>> {
    let schema = array.schema();
    let mut cells = Vec::new();
    for batch in within(array.read(), schema, ends).order(Order::RowMajor).batches().unwrap() {
        let batch = batch.unwrap();
        let bytes = |column: &Column, cell| column.cell(cell).map(<[u8]>::to_vec);
        let fields = |cell| batch.columns().iter().map(|column| bytes(column, cell)).collect();
        cells.extend((0..batch.len()).map(fields));
    }
    if !schema.is_dense() {
        cells.sort();
    }
    cells
}

#[test]
fn fixtures_survive_a_round_trip() {
    let (mut arrays, mut cells_back, mut lossy, mut beyond) = (0, 0, 0, 0);
    for fixture in every_array() {
        let name = fixture.name();
        let array = open(&fixture);
        let arrow = schema(&array, &ArrowOptions::new()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let told = definition(&arrow).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(placed(&told), placed(&array.definition().unwrap()), "{name}");
        arrays += 1;
        let Some(ends) = array.non_empty_coordinates().unwrap() else { continue };
        let copy = InMemory::new(&told, fixture.expected().key());
        let query = within(array.read(), array.schema(), &ends).order(Order::RowMajor);
        let reader = Reader::new(query.clone(), &ArrowOptions::new()).unwrap();
        assert_eq!(reader.schema(), arrow);
        let batches: Vec<_> = match reader.collect::<Result<_, _>>() {
            Ok(batches) => batches,
            Err(error) => {
                // Fixtures with random bits contain dates beyond Arrow's range and invalid UTF-8.
                let error = error.to_string();
                let expected = error.contains("is out of range of the target") || error.contains("not valid UTF-8");
                assert!(expected, "{name}: {error}");
                beyond += 1;
                let reader =
                    Reader::new(query, &ArrowOptions::new().other_dates_as_integers().strings_as_binary()).unwrap();
                reader.map(|batch| batch.unwrap_or_else(|error| panic!("{name}: {error}"))).collect()
            }
        };
        let [batch] = &batches[..] else { panic!("{name}: {} batches", batches.len()) };
        if is_lossy(array.schema()) {
            lossy += 1;
            continue;
        }
        let opened = copy.open();
        let mut write = opened.write().any_utf8();
        if array.schema().is_dense() {
            for (dimension, ends) in array.schema().dimensions().iter().zip(&ends) {
                write = write.range(dimension.name(), ends.clone()).unwrap();
            }
        }
        let cells = cells(batch, &opened).unwrap_or_else(|error| panic!("{name}: {error}"));
        cells_back += write.cells(cells).unwrap_or_else(|error| panic!("{name}: {error}")).cells;
        assert!(all_cells(&copy.open(), &ends) == all_cells(&array, &ends), "{name}");
    }
    assert!(arrays > 300 && cells_back > 20_000, "{arrays} arrays, {cells_back} cells");
    assert!(lossy < arrays / 10 && beyond < arrays / 10, "{lossy} lossy, {beyond} beyond Arrow, of {arrays}");
}
