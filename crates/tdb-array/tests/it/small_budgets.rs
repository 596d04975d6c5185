//! Cost of memory limits far below the size of a tile.

use std::sync::Arc;

use crate::two_arrays::*;
use tdb_array::{Array, Order, WriteBatch, WriteColumn};
use tdb_filters::{Filter, FilterPipeline};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_storage::MemoryStorage;
use tdb_types::{CellValNum, Datatype, Layout};

const CELLS: usize = 300_000;

fn attributes(builder: SchemaBuilder) -> SchemaBuilder {
    let filters = || FilterPipeline::new(vec![Filter::Zstd { level: 1 }]);
    let text = Attribute::new("text", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var);
    builder
        .attribute(Attribute::new("number", Datatype::Int64).with_filters(filters()))
        .attribute(Attribute::new("some", Datatype::Int32).nullable(true).with_filters(filters()))
        .attribute(text.with_filters(filters()))
}

fn values(cells: WriteBatch<'static>) -> WriteBatch<'static> {
    let numbers = (0..CELLS as i64).flat_map(|cell| (cell * cell % 1_000_003).to_le_bytes()).collect();
    let some = (0..CELLS as i32).map(|cell| (cell % 7 > 0).then_some(cell % 1009));
    cells
        .with("number", WriteColumn::owned(numbers, None, None))
        .with("some", WriteColumn::options(some))
        .with("text", WriteColumn::strings((0..CELLS).map(|cell| format!("cell number {cell}"))))
}

fn sparse(fragments: usize) -> Arc<MemoryStorage> {
    let x = Dimension::new("x", 0i64..=9_999_999);
    let y = Dimension::new("y", 0i64..=9_999_999);
    let builder = SchemaBuilder::sparse().dimension(x).dimension(y).capacity(1 << 20);
    let storage = create(&attributes(builder).build().unwrap());
    for fragment in 0..fragments as i64 {
        let x: Vec<u8> = (0..CELLS as i64).flat_map(|cell| (cell * 7 + fragment).to_le_bytes()).collect();
        let y: Vec<u8> = (0..CELLS as i64).flat_map(|cell| (cell * 7919 % 9_999_991).to_le_bytes()).collect();
        let column = |bytes| WriteColumn::owned(bytes, None, None);
        let cells = WriteBatch::new().with("x", column(x)).with("y", column(y));
        array_on(&storage, 1).write().cells(values(cells)).unwrap();
    }
    storage
}

fn dense() -> Arc<MemoryStorage> {
    let side = |name, len: i32| Dimension::new(name, 0i32..=len - 1).with_tile(len);
    let builder = SchemaBuilder::dense().dimension(side("y", 300)).dimension(side("x", 1000));
    let storage = create(&attributes(builder.cell_order(Layout::RowMajor)).build().unwrap());
    array_on(&storage, 1).write().cells(values(WriteBatch::new())).unwrap();
    storage
}

/// A column of a result: the bytes of all values, and the length and nullness of each cell.
type Whole = (Vec<u8>, Vec<(usize, bool)>);

/// Reads everything. Returns the bytes read, and the columns.
fn read(array: &Array, order: Order, budget: usize) -> (u64, Vec<Whole>) {
    let before = array.counters().bytes;
    let mut whole: Vec<Whole> = Vec::new();
    for batch in array.read().order(order).budget(budget).batches().unwrap() {
        let batch = batch.unwrap();
        assert!(batch.memory() <= budget + budget / 4, "{} bytes", batch.memory());
        whole.resize_with(batch.columns().len(), Whole::default);
        for ((values, cells), column) in whole.iter_mut().zip(batch.columns()) {
            values.extend_from_slice(column.bytes());
            cells.extend((0..column.len()).map(|cell| (column.cell_bytes(cell).len(), column.is_valid(cell))));
        }
    }
    (array.counters().bytes - before, whole)
}

/// With small batches, tiles are unfiltered a few times at most. This holds whether all tiles fit
/// into the minimum memory (one fragment) or not (three), and in dense arrays, along and across the
/// order of tiles.
#[test]
fn tiles_are_not_unfiltered_for_each_small_batch() {
    for (name, storage, most) in [("one", sparse(1), 3), ("three", sparse(3), 5), ("dense", dense(), 8)] {
        for order in [Order::Unordered, Order::RowMajor, Order::ColMajor, Order::Global] {
            let (least, whole) = read(&array_on(&storage, 1), order, 64 << 20);
            for budget in [1 << 20, 64 << 10] {
                let (bytes, again) = read(&array_on(&storage, 1), order, budget);
                println!("{name} {order:?} {budget}: {:.1}", bytes as f64 / least as f64);
                assert!(again == whole, "{name} {order:?} {budget}");
                assert!(bytes <= most * least, "{name} {order:?} {budget}: {bytes} bytes, {least} in a single batch");
            }
        }
    }
}
