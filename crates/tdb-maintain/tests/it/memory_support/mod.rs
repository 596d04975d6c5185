//! Arrays of any size, for measurements of peak memory.
#![allow(clippy::unwrap_used)] // test helpers

use std::path::Path;

use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_array::{Array, WriteBatch, WriteColumn, WriteIds};
use tdb_types::Datatype;

/// Total number of cells, 24 bytes each, and number of fragments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) cells: i64,
    pub(crate) fragments: i64,
}

fn create(path: &Path, schema: SchemaBuilder) {
    let schema = schema.attribute(Attribute::new("a", Datatype::Int64)).attribute(Attribute::new("b", Datatype::Int64));
    Array::create(path, schema.build().unwrap()).unwrap();
}

fn names(fragment: i64) -> WriteIds {
    WriteIds::new().at(u64::try_from(1000 + fragment).unwrap())
}

/// Writes points. Each fragment covers the whole domain.
pub(crate) fn sparse(path: &Path, Size { cells, fragments }: Size) {
    let x = Dimension::new("x", 0i64..=99_999_999);
    create(path, SchemaBuilder::sparse().dimension(x).capacity(10_000));
    for fragment in 0..fragments {
        let x: Vec<i64> = (0..cells / fragments).map(|cell| cell * fragments + fragment).collect();
        let a: Vec<i64> = x.iter().map(|x| x * 7919 % 1_000_003).collect();
        let cells = WriteBatch::new().with("x", &x).with("a", &a).with("b", &a);
        Array::open(path).unwrap().write().ids(names(fragment)).cells(cells).unwrap();
    }
}

/// Writes consecutive fragments. The boundaries between fragments are within tiles.
pub(crate) fn dense(path: &Path, Size { cells, fragments }: Size) {
    let x = Dimension::new("x", 0i64..=cells - 1);
    create(path, SchemaBuilder::dense().dimension(x.with_tile(10_000)));
    let len = cells / fragments;
    for fragment in 0..fragments {
        let a: Vec<i64> = (0..len).map(|x| (x + fragment) * 7919 % 1_000_003).collect();
        let cells = WriteBatch::new().with("a", WriteColumn::values(&a)).with("b", WriteColumn::values(&a));
        let write = Array::open(path).unwrap().write().ids(names(fragment));
        write.range("x", fragment * len..=(fragment + 1) * len - 1).unwrap().cells(cells).unwrap();
    }
}
