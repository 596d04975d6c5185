//! Arrays in memory with random histories, and all cells that readers find.
#![allow(clippy::unwrap_used, dead_code)] // test helpers, not all used by every test

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::support::Placed;
pub(crate) use crate::support::open;
use tdb_array::tdb_condition::Condition;
use tdb_array::tdb_schema::{ArrayDefinition, ArraySchema, Attribute, Dimension, SchemaBuilder, SchemaEvolution};
use tdb_array::{Array, ArrayOptions, CreateOptions, Duplicates, Order, WriteBatch, WriteColumn, WriteIds};
use tdb_storage::{MemoryStorage, Storage};
use tdb_types::{CellValNum, Datatype, FormatVersion, Layout};

/// Reproducible pseudo-random numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    pub(crate) fn number(&mut self, end: u64) -> i32 {
        i32::try_from(self.below(end)).unwrap()
    }
}

/// Properties of a test array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) version: u32,
    pub(crate) order: Layout,
    pub(crate) duplicates: bool,
    /// Datatype of the first dimension.
    pub(crate) first: Datatype,
}

pub(crate) fn storage_of(disk: &MemoryStorage) -> Arc<dyn Storage> {
    Arc::new(Placed(Arc::new(disk.clone())))
}

pub(crate) fn create(storage: &Arc<dyn Storage>, schema: ArraySchema) {
    let definition = ArrayDefinition::new(schema).unwrap();
    CreateOptions::new().ids(WriteIds::new().at(10).seeded(1)).create_on(storage, &definition).unwrap();
}

fn attributes(schema: SchemaBuilder) -> SchemaBuilder {
    let text = Attribute::new("s", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var).nullable(true);
    schema
        .attribute(Attribute::new("a", Datatype::Int32))
        .attribute(text)
        .attribute(Attribute::new("n", Datatype::Float64).nullable(true))
}

pub(crate) fn sparse(kind: Kind) -> ArraySchema {
    let first = match kind.first {
        Datatype::StringAscii => Dimension::string("x"),
        Datatype::Float64 => Dimension::new("x", -10.0f64..=10.0),
        _ => Dimension::new("x", -10i32..=10).with_tile(4),
    };
    let second = Dimension::new("y", 0i32..=9);
    let second = if kind.order == Layout::Hilbert { second } else { second.with_tile(3) };
    let first = match (kind.order, kind.first) {
        (Layout::Hilbert, Datatype::Int32) => Dimension::new("x", -10i32..=10),
        _ => first,
    };
    let schema = SchemaBuilder::sparse().version(FormatVersion::new(kind.version).unwrap()).cell_order(kind.order);
    let schema = schema.capacity(3).allows_duplicates(kind.duplicates).dimension(first).dimension(second);
    attributes(schema).build().unwrap()
}

pub(crate) fn dense(version: u32, cells: Layout, tiles: Layout) -> ArraySchema {
    let side = |name, low, high, extent| Dimension::new(name, low..=high).with_tile(extent);
    let schema =
        SchemaBuilder::dense().version(FormatVersion::new(version).unwrap()).cell_order(cells).tile_order(tiles);
    attributes(schema.dimension(side("x", -5, 5, 3)).dimension(side("y", 1, 10, 4))).build().unwrap()
}

/// Adds columns of `count` random cells for the attributes.
fn values<'a>(random: &mut Random, count: usize, cells: WriteBatch<'a>, array: &Array) -> WriteBatch<'a> {
    let mut cells = cells;
    for attribute in array.schema().attributes() {
        let name = attribute.name().to_owned();
        cells = match attribute.datatype() {
            Datatype::Int32 => {
                let values: Vec<u8> = (0..count).flat_map(|_| random.number(6).to_le_bytes()).collect();
                cells.with(name, WriteColumn::owned(values, None, None))
            }
            Datatype::Float64 => {
                let value = |random: &mut Random| (random.below(4) > 0).then(|| f64::from(random.number(9)) / 2.0);
                cells.with(name, WriteColumn::options((0..count).map(|_| value(random)).collect::<Vec<_>>()))
            }
            _ => {
                let word = |random: &mut Random| match random.below(5) {
                    0 => None,
                    len => Some("wörter".chars().take(usize::try_from(len).unwrap()).collect::<String>()),
                };
                cells.with(name, WriteColumn::optional_strings((0..count).map(|_| word(random)).collect::<Vec<_>>()))
            }
        };
    }
    cells
}

/// Writes random cells of a sparse array.
pub(crate) fn write_sparse(storage: &Arc<dyn Storage>, random: &mut Random, kind: Kind, names: &WriteIds) {
    let array = open(storage);
    let count = 1 + usize::try_from(random.below(8)).unwrap();
    let x: Vec<i32> = (0..count).map(|_| random.number(5) - 2).collect();
    let y: Vec<i32> = (0..count).map(|_| random.number(5)).collect();
    let first = match kind.first {
        Datatype::StringAscii => {
            WriteColumn::strings(x.iter().map(|x| "abcabcabcabc"[..usize::try_from(x + 2).unwrap() * 2].to_owned()))
        }
        Datatype::Float64 => {
            let values = x.iter().map(|x| if *x == 0 && y[0] % 2 == 0 { -0.0 } else { f64::from(*x) });
            WriteColumn::owned(values.flat_map(f64::to_le_bytes).collect(), None, None)
        }
        _ => WriteColumn::owned(x.iter().flat_map(|x| x.to_le_bytes()).collect(), None, None),
    };
    let y = WriteColumn::owned(y.iter().flat_map(|y| y.to_le_bytes()).collect(), None, None);
    let cells = values(random, count, WriteBatch::new().with("x", first).with("y", y), &array);
    let keep = if kind.duplicates { Duplicates::Keep } else { Duplicates::KeepLast };
    array.write().ids(names.clone()).duplicates(keep).cells(cells).unwrap();
}

/// Writes a random subarray of a dense array.
pub(crate) fn write_dense(storage: &Arc<dyn Storage>, random: &mut Random, names: &WriteIds) {
    let (x, y) = (random.number(11) - 5, 1 + random.number(10));
    let (to_x, to_y) = ((x + random.number(5)).min(5), (y + random.number(6)).min(10));
    write_dense_box(storage, random, names, [x..=to_x, y..=to_y]);
}

/// Writes random cells to a subarray of a dense array.
pub(crate) fn write_dense_box(
    storage: &Arc<dyn Storage>,
    random: &mut Random,
    names: &WriteIds,
    [x, y]: [RangeInclusive<i32>; 2],
) {
    let array = open(storage);
    let count = x.clone().count() * y.clone().count();
    let cells = values(random, count, WriteBatch::new(), &array);
    let write = array.write().ids(names.clone()).range("x", x).unwrap().range("y", y).unwrap();
    write.cells(cells).unwrap();
}

/// Deletes random cells of a sparse array.
pub(crate) fn delete(storage: &Arc<dyn Storage>, random: &mut Random, names: &WriteIds) {
    let condition = match random.below(3) {
        0 => Condition::field("a").eq(random.number(6)),
        1 => Condition::field("y").lt(random.number(4)),
        _ => Condition::field("n").ge(f64::from(random.number(5))),
    };
    open(storage).delete_cells(&condition, names).unwrap();
}

pub(crate) fn add_attribute(storage: &Arc<dyn Storage>, name: &str, names: &WriteIds) {
    let evolution = SchemaEvolution::new().add_attribute(Attribute::new(name, Datatype::Int32));
    open(storage).evolve(&evolution, names).unwrap();
}

/// Returns all cells at a time, in order, one line each.
pub(crate) fn cells_at(storage: &Arc<dyn Storage>, end: u64) -> Vec<String> {
    cells_of(&ArrayOptions::new().at(end).threads(1).open_on(storage.clone()).unwrap())
}

/// Returns all cells of an array, in order, one line each.
pub(crate) fn cells_of(array: &Array) -> Vec<String> {
    let mut lines = Vec::new();
    for order in [Order::Global, Order::RowMajor] {
        let mut some = Vec::new();
        for batch in array.read().order(order).batches().unwrap() {
            let batch = batch.unwrap();
            for cell in 0..batch.len() {
                let field = |column: &tdb_array::Column| match column.is_valid(cell) {
                    true => format!("{}={:?}", column.name(), column.cell_bytes(cell)),
                    false => format!("{}=null", column.name()),
                };
                some.push(batch.columns().iter().map(field).collect::<Vec<_>>().join(" "));
            }
        }
        some.sort();
        assert!(lines.is_empty() || lines == some);
        lines = some;
    }
    lines
}
