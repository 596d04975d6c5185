//! Writes without cells, and empty batches within streams.

use crate::two_arrays::*;
use tdb_array::{Array, ArrayError, CellsError, Duplicates, GlobalWriter, WriteBatch, WriteColumn};
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_testkit::files_of;
use tdb_types::{CellValNum, Datatype, Layout, Scalar};

/// Returns the rows in global order.
fn in_global_order(schema: &ArraySchema, rows: &[Row]) -> Vec<Row> {
    let storage = create(schema);
    array_on(&storage, 1).write().cells(columns(rows)).unwrap();
    rows_of(&array_on(&storage, 1))
}

/// The array of [`sparse_schema`] with a current domain that contains neither the lowest key nor
/// the empty string.
fn bounded_schema() -> ArraySchema {
    let schema = sparse_schema(false, Layout::RowMajor);
    let x = DimRange::between(Scalar::I32(-10), Scalar::I32(20)).unwrap();
    let current = NdRange(vec![x, DimRange::strings("a", "c")]);
    let builder = schema.dimensions().iter().cloned().fold(SchemaBuilder::sparse(), SchemaBuilder::dimension);
    let builder = schema.attributes().iter().cloned().fold(builder, SchemaBuilder::attribute);
    builder.capacity(7).current_domain(current).build().unwrap()
}

fn stream_with(array: &Array, rows: &[Row], with_empty: bool) -> Result<u64, ArrayError> {
    let mut writer = array.write().ids(names(3)).duplicates(Duplicates::KeepLast).global_order()?;
    let push_empty = |writer: &mut GlobalWriter| match with_empty {
        true => writer.push(columns(&[])),
        false => Ok(()),
    };
    push_empty(&mut writer)?;
    for row in rows {
        writer.push(columns(std::slice::from_ref(row)))?;
        push_empty(&mut writer)?;
    }
    Ok(writer.commit()?.cells)
}

#[test]
fn empty_batches_of_sparse_streams_change_nothing() {
    let row = |x, s: &str| (x, s.to_owned(), 0.5, None, [1, 2]);
    let rows = [row(1, "a"), row(-3, "b"), row(7, "a"), row(19, "c"), row(-3, "ab")];
    let orders = [Layout::RowMajor, Layout::ColMajor, Layout::Hilbert];
    let free = orders.map(|order| sparse_schema(order == Layout::ColMajor, order));
    for schema in free.into_iter().chain([bounded_schema()]) {
        let rows = in_global_order(&schema, &rows);
        let written = |rows: &[Row], with_empty: bool| {
            let storage = create(&schema);
            let cells = stream_with(&array_on(&storage, 1), rows, with_empty).unwrap();
            assert_eq!(cells, rows.len() as u64);
            files_of(&*storage)
        };
        assert_eq!(written(&rows, true), written(&rows, false));
        // A write without cells creates no fragment.
        assert_eq!(written(&[], true), files_of(&*create(&schema)));
        let storage = create(&schema);
        assert_eq!(array_on(&storage, 1).write().cells(columns(&[])).unwrap().fragments.len(), 0);
        assert_eq!(files_of(&*storage), files_of(&*create(&schema)));
    }
}

#[test]
fn empty_batches_of_dense_streams_change_nothing() {
    let schema = dense_schema(Layout::RowMajor, Layout::ColMajor);
    let (_, cells) = box_cells([(-3, 8), (-3, 5), (-3, 2)], false, 3);
    let written = |with_empty: bool| {
        let storage = create(&schema);
        let mut writer = array_on(&storage, 1).write().ids(names(3)).global_order().unwrap();
        for cells in cells.chunks(100) {
            if with_empty {
                writer.push(grid_columns(&[])).unwrap();
            }
            writer.push(grid_columns(cells)).unwrap();
        }
        writer.commit().unwrap();
        files_of(&*storage)
    };
    assert_eq!(written(true), written(false));
}

/// Without cells, offsets consist of one number, which must still be within the values.
#[test]
fn offsets_of_no_cells_are_checked() {
    let lists = Attribute::new("lists", Datatype::Int64).with_cell_val_num(CellValNum::Var);
    let schema = SchemaBuilder::sparse().dimension(Dimension::string("s")).attribute(lists).build().unwrap();
    let storage = create(&schema);
    let array = array_on(&storage, 1);
    let value = 0i64.to_le_bytes();
    for offset in [1, 2, 1 << 61, u64::MAX] {
        let strings = |offsets| WriteBatch::new().with("s", WriteColumn::bytes(b"").with_offsets(offsets));
        let offsets = [offset];
        let of_strings = strings(&offsets).with("lists", WriteColumn::bytes(&[]).with_offsets(&[0]));
        let of_lists = strings(&[0]).with("lists", WriteColumn::bytes(&[]).with_offsets(&offsets));
        for (field, cells) in [("s", of_strings), ("lists", of_lists)] {
            let mut writer = array.write().global_order().unwrap();
            for error in [writer.push(&cells).unwrap_err(), array.write().cells(&cells).unwrap_err()] {
                assert!(
                    matches!(&error, ArrayError::Cells(CellsError::ColumnShape { field: found, .. }) if found == field),
                    "{error}"
                );
            }
        }
    }
    // No cells, at an offset within existing values.
    let cells = WriteBatch::new().with("s", WriteColumn::bytes(b"ab").with_offsets(&[2]));
    array.write().cells(cells.with("lists", WriteColumn::bytes(&value).with_offsets(&[1]))).unwrap();
}
