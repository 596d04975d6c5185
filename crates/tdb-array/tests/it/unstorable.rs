//! Values that a filter cannot represent. Every write rejects such values, names the cell, and
//! leaves no files.

use std::sync::Arc;

use crate::two_arrays::*;
use tdb_array::{ArrayError, CellProblem, CellsError, Order, WriteBatch, WriteColumn};
use tdb_filters::{Filter, FilterPipeline};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_storage::MemoryStorage;
use tdb_types::Datatype;

fn filters(offset: f64) -> FilterPipeline {
    FilterPipeline::new(vec![Filter::FloatScale { scale: 1.0, offset, byte_width: 1 }])
}

/// Tiles of four cells along each of two dimensions, or of four cells.
fn schema(is_dense: bool, attribute: Attribute) -> ArraySchema {
    let dimension = |name| Dimension::new(name, 0i32..=7).with_tile(4);
    let builder = if is_dense { SchemaBuilder::dense() } else { SchemaBuilder::sparse().capacity(4) };
    builder.dimension(dimension("y")).dimension(dimension("x")).attribute(attribute).build().unwrap()
}

fn scaled(offset: f64) -> Attribute {
    Attribute::new("a", Datatype::Float32).with_filters(filters(offset))
}

/// Checks that the error names this cell and value, and that the array is unchanged.
fn refused(result: Result<(), ArrayError>, cell: u64, value: &str, storage: &Arc<MemoryStorage>) {
    let error = result.unwrap_err();
    let ArrayError::Cells(CellsError::Cell {
        field,
        cell: found,
        problem: CellProblem::Unstorable { value: shown, .. },
    }) = &error
    else {
        panic!("{error}");
    };
    assert_eq!((field.as_str(), *found, &**shown), ("a", cell, value));
    assert_eq!(array_on(storage, 1).fragments().unwrap().len(), 0);
}

fn coordinates(cells: i32) -> (Vec<i32>, Vec<i32>) {
    ((0..cells).map(|cell| 7 - cell / 8).collect(), (0..cells).map(|cell| 7 - cell % 8).collect())
}

#[test]
fn sparse_writes_refuse_values_that_the_filter_cannot_represent() {
    for (cell, value) in [(0, f32::NAN), (5, 300.0), (39, f32::NEG_INFINITY), (17, -128.5)] {
        let storage = create(&schema(false, scaled(0.0)));
        let (y, x) = coordinates(40);
        let mut values = vec![1.5f32; 40];
        values[cell] = value;
        let cells = || WriteBatch::new().with("y", &y).with("x", &x).with("a", &values);
        let result = array_on(&storage, 2).write().cells(cells());
        refused(result.map(|_| ()), cell as u64, &format!("{value:?}"), &storage);
        let mut writer = array_on(&storage, 2).write().atomic().unwrap();
        refused(writer.push(cells()), cell as u64, &format!("{value:?}"), &storage);
        assert!(writer.commit().is_err());
    }
}

#[test]
fn streams_refuse_values_that_the_filter_cannot_represent() {
    for (cell, portion) in [(0, 3), (30, 3), (30, 40), (39, 1)] {
        let storage = create(&schema(false, scaled(0.0)));
        let mut writer = array_on(&storage, 2).write().budget(1).global_order().unwrap();
        // Global order, tile by tile.
        let place = |cell: i32| (cell / 32 * 4 + cell / 4 % 4, cell / 16 % 2 * 4 + cell % 4);
        let numbers: Vec<i32> = (0..40).collect();
        let mut pushed = Ok(());
        for part in numbers.chunks(portion) {
            let (y, x): (Vec<i32>, Vec<i32>) = part.iter().map(|cell| place(*cell)).unzip();
            let values: Vec<f32> = part.iter().map(|number| if *number == cell { 1e9 } else { 0.0 }).collect();
            let cells = WriteBatch::new().with("y", &y).with("x", &x).with("a", &values);
            pushed = pushed.and_then(|()| writer.push(cells));
        }
        let result = pushed.and_then(|()| writer.commit().map(|_| ()));
        refused(result, cell as u64, "1000000000.0", &storage);
    }
}

#[test]
fn dense_writes_refuse_values_that_the_filter_cannot_represent() {
    for order in [Order::RowMajor, Order::ColMajor] {
        for cell in [0, 7, 29] {
            let storage = create(&schema(true, scaled(0.0)));
            let mut values = [0.0f32; 30];
            values[cell] = 128.0;
            let write =
                array_on(&storage, 2).write().range("y", 2..=6).unwrap().range("x", 1..=6).unwrap().order(order);
            let result = write.cells([("a", WriteColumn::values(&values))]);
            refused(result.map(|_| ()), cell as u64, "128.0", &storage);
        }
    }
    let storage = create(&schema(true, scaled(0.0)));
    let mut values = [0.0f32; 64];
    values[50] = 128.0;
    let mut writer = array_on(&storage, 2).write().budget(1).global_order().unwrap();
    let result = writer.push([("a", WriteColumn::values(&values))]);
    refused(result.and_then(|()| writer.commit().map(|_| ())), 50, "128.0", &storage);
}

/// Neither the zeros that pad dense tiles nor the content of null cells can be represented.
#[test]
fn padding_and_null_cells_need_not_be_storable() {
    let storage = create(&schema(true, scaled(1000.0).nullable(false)));
    let values = WriteColumn::values(&[1000.0f32, f32::NAN, 1127.0]).with_validity(&[0b101]);
    let write = array_on(&storage, 1).write().range("y", 0..=0).unwrap().range("x", 1..=3).unwrap();
    write.cells([("a", values)]).unwrap();
    let batch = array_on(&storage, 1).read().range("y", 0..=0).unwrap().batches().unwrap().next().unwrap().unwrap();
    let column = batch.column("a").unwrap();
    let value = |cell| column.cell(cell).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
    let cells = [1, 2, 3].map(value);
    assert_eq!(cells, [Some(1000.0), None, Some(1127.0)]);
}

#[test]
fn integers_and_shuffled_bytes_are_no_floats_to_scale() {
    let scale = Filter::FloatScale { scale: 1.0, offset: 0.0, byte_width: 4 };
    for (datatype, filters) in [
        (Datatype::Int32, vec![scale.clone()]),
        (Datatype::Float32, vec![Filter::Byteshuffle, scale.clone()]),
        (Datatype::Float64, vec![scale.clone(), scale.clone()]),
    ] {
        let attribute = Attribute::new("a", datatype).with_filters(FilterPipeline::new(filters));
        let storage = create(&schema(true, attribute));
        let bytes = vec![0; 64 * datatype.size()];
        let error = array_on(&storage, 1).write().cells([("a", WriteColumn::bytes(&bytes))]).unwrap_err();
        assert!(error.to_string().contains("values would be lost"), "{error}");
    }
}

/// Values read through a filter can be stored again. Unwritten cells have a fill value that the
/// filter cannot represent.
#[test]
fn consolidation_refuses_to_change_values() {
    for (second, is_refused) in [(2..=3, false), (5..=6, true)] {
        let storage = create(&schema(true, scaled(0.0)));
        let write = |time, y: std::ops::RangeInclusive<i32>, value: f32| {
            let write = array_on(&storage, 1).write().ids(names(time)).range("y", y).unwrap();
            write.cells([("a", WriteColumn::values(&[value; 16]))]).unwrap();
        };
        write(10, 0..=1, 127.3);
        write(11, second, -128.4);
        let array = array_on(&storage, 1);
        let fragments: Vec<_> = array.fragments().unwrap().iter().map(|fragment| fragment.name().clone()).collect();
        match array.join(&fragments).unwrap().write() {
            Err(error) if is_refused => assert!(error.to_string().contains("NaN"), "{error}"),
            result => drop(result.unwrap()),
        }
    }
}
