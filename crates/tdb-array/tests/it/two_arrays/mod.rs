//! A sparse and a dense array, and cells for them.
#![allow(dead_code)] // not every test uses all of them
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::collections::BTreeMap;
use std::sync::Arc;

use tdb_array::{Array, ArrayError, ArrayOptions, Order, Write, WriteBatch, WriteColumn, WriteIds, Written};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_storage::{MemoryStorage, Storage};
use tdb_types::{CellValNum, Datatype, Layout};

pub(crate) fn array_on(storage: &Arc<MemoryStorage>, threads: usize) -> Array {
    ArrayOptions::new().threads(threads).open_on(Arc::clone(storage) as Arc<dyn Storage>).unwrap()
}

pub(crate) fn create(schema: &ArraySchema) -> Arc<MemoryStorage> {
    let storage = Arc::new(MemoryStorage::new());
    for folder in ["__schema", "__fragments", "__commits"] {
        storage.create_folder(folder).unwrap();
    }
    storage.create_new("__schema/__1_1_0123456789abcdef0123456789abcdef", &schema.to_file().unwrap()).unwrap();
    storage
}

/// Returns reproducible names.
pub(crate) fn names(time: u64) -> WriteIds {
    WriteIds::new().at(time).seeded(time)
}

pub(crate) fn sparse_schema(duplicates: bool, cell_order: Layout) -> ArraySchema {
    let x = Dimension::new("x", -50i32..=49).with_tile(20);
    SchemaBuilder::sparse()
        .dimension(x)
        .dimension(Dimension::string("s"))
        .attribute(Attribute::new("a", Datatype::Float64))
        .attribute(Attribute::new("t", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var).nullable(false))
        .attribute(Attribute::new("p", Datatype::UInt16).with_cell_val_num(CellValNum::from_code(2).unwrap()))
        .cell_order(cell_order)
        .capacity(7)
        .allows_duplicates(duplicates)
        .build()
        .unwrap()
}

/// A cell of the sparse array.
pub(crate) type Row = (i32, String, f64, Option<String>, [u16; 2]);

pub(crate) fn columns(rows: &[Row]) -> WriteBatch<'static> {
    let bytes = |values: Vec<u8>| WriteColumn::owned(values, None, None);
    WriteBatch::new()
        .with("x", bytes(rows.iter().flat_map(|row| row.0.to_le_bytes()).collect()))
        .with("s", WriteColumn::strings(rows.iter().map(|row| &row.1)))
        .with("a", bytes(rows.iter().flat_map(|row| row.2.to_le_bytes()).collect()))
        .with("t", WriteColumn::optional_strings(rows.iter().map(|row| row.3.as_ref())))
        .with("p", bytes(rows.iter().flat_map(|row| row.4).flat_map(u16::to_le_bytes).collect()))
}

pub(crate) fn rows_of(array: &Array) -> Vec<Row> {
    let mut rows = Vec::new();
    for batch in array.read().order(Order::Global).batches().unwrap() {
        let batch = batch.unwrap();
        let column = |name: &str| batch.column(name).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        for cell in 0..batch.len() {
            rows.push((
                column("x").values::<i32>().unwrap()[cell],
                text(column("s").cell(cell).unwrap()),
                column("a").values::<f64>().unwrap()[cell],
                column("t").cell(cell).map(text),
                column("p").values::<u16>().unwrap().as_chunks().0[cell],
            ));
        }
    }
    rows
}

/// Streams the cells in batches of this size.
pub(crate) fn stream(write: Write, rows: &[Row], batch: usize) -> Result<Written, ArrayError> {
    let mut writer = write.global_order()?;
    for rows in rows.chunks(batch) {
        writer.push(columns(rows))?;
    }
    writer.commit()
}

pub(crate) fn dense_schema(tiles: Layout, cells: Layout) -> ArraySchema {
    let side = |name, high, extent| Dimension::new(name, -3i64..=high).with_tile(extent);
    SchemaBuilder::dense()
        .dimension(side("y", 8, 4))
        .dimension(side("x", 5, 3))
        .dimension(side("z", 2, 2))
        .attribute(Attribute::new("a", Datatype::Int32))
        .attribute(Attribute::new("s", Datatype::StringAscii).with_cell_val_num(CellValNum::Var).nullable(false))
        .tile_order(tiles)
        .cell_order(cells)
        .build()
        .unwrap()
}

/// A cell of the dense array.
pub(crate) type Cell = (i32, Option<String>);

/// Cells of the dense array by coordinates.
pub(crate) type Grid = BTreeMap<[i64; 3], Cell>;

pub(crate) fn grid_of(array: &Array) -> Grid {
    let mut grid = Grid::new();
    for batch in array.read().select(["y", "x", "z", "a", "s"]).unwrap().batches().unwrap() {
        let batch = batch.unwrap();
        let [y, x, z] = ["y", "x", "z"].map(|name| batch.column(name).unwrap().values::<i64>().unwrap());
        let (a, s) = (batch.column("a").unwrap().values::<i32>().unwrap(), batch.column("s").unwrap());
        for (cell, value) in a.iter().enumerate() {
            let text = s.cell(cell).map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
            grid.insert([y[cell], x[cell], z[cell]], (*value, text));
        }
    }
    grid
}

/// Returns the coordinates of a box in an order, and cells for them.
pub(crate) fn box_cells(ranges: [(i64, i64); 3], col_major: bool, seed: i32) -> (Vec<[i64; 3]>, Vec<Cell>) {
    let [y, x, z] = ranges.map(|(low, high)| low..=high);
    let mut places = Vec::new();
    for y in y {
        x.clone().for_each(|x| places.extend(z.clone().map(|z| [y, x, z])));
    }
    if col_major {
        places.sort_by_key(|place| [place[2], place[1], place[0]]);
    }
    let cell = |number: usize| {
        let value = i32::try_from(number).unwrap().wrapping_mul(seed);
        (value, (value % 3 != 0).then(|| "word".repeat(usize::try_from(value.unsigned_abs() % 4).unwrap())))
    };
    let cells = (0..places.len()).map(cell).collect();
    (places, cells)
}

pub(crate) fn grid_columns(cells: &[Cell]) -> WriteBatch<'static> {
    let values = cells.iter().flat_map(|cell| cell.0.to_le_bytes()).collect();
    let strings = WriteColumn::optional_strings(cells.iter().map(|cell| cell.1.as_ref()));
    WriteBatch::new().with("a", WriteColumn::owned(values, None, None)).with("s", strings)
}
