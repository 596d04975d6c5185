//! What a migration holds at its peak: its budget and a constant, however large the array is.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::path::Path;

use tdb_maintain::Migrate;
use tdb_maintain::tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
use tdb_maintain::tdb_array::{Array, ArrayOptions, CreateOptions, Names, NewCells, NewColumn};
use tdb_maintain::tdb_types::{Datatype, FormatVersion, Scalar};
use tdb_testkit::allocations::peak_while;

const BUDGET: usize = 4 << 20;
/// What reading and writing take beside it; most of it are tables of the comparison of old and new cells.
const CONSTANT: u64 = 28 << 20;
/// Cells of the smallest array: 24 bytes each. The largest has a hundred times as many.
const CELLS: i64 = 30_000;
const FRAGMENTS: i64 = 3;

fn attributes(schema: SchemaBuilder) -> SchemaBuilder {
    schema.attribute(Attribute::new("a", Datatype::Int64)).attribute(Attribute::new("b", Datatype::Int64))
}

fn sparse(path: &Path, cells: i64) {
    let x = Dimension::new("x", Datatype::Int64, Scalar::I64(0), Scalar::I64(99_999_999));
    let schema = attributes(SchemaBuilder::sparse().dimension(x).capacity(10_000)).build().unwrap();
    Array::create(path, &ArrayDefinition::new(schema).unwrap()).unwrap();
    for fragment in 0..FRAGMENTS {
        let x: Vec<i64> = (0..cells / FRAGMENTS).map(|cell| cell * FRAGMENTS + fragment).collect();
        let a: Vec<i64> = x.iter().map(|x| x * 7919 % 1_000_003).collect();
        let cells = NewCells::new().with("x", &x).with("a", &a).with("b", &a);
        let names = Names::new().at(u64::try_from(1000 + fragment).unwrap());
        Array::open(path).unwrap().write().names(names).cells(cells).unwrap();
    }
}

fn dense(path: &Path, cells: i64) {
    let x = Dimension::new("x", Datatype::Int64, Scalar::I64(0), Scalar::I64(cells - 1));
    let schema = attributes(SchemaBuilder::dense().dimension(x.with_tile_extent(Scalar::I64(10_000))));
    Array::create(path, &ArrayDefinition::new(schema.build().unwrap()).unwrap()).unwrap();
    let len = cells / FRAGMENTS;
    for fragment in 0..FRAGMENTS {
        let a: Vec<i64> = (0..len).map(|x| (x + fragment) * 7919 % 1_000_003).collect();
        let cells = NewCells::new().with("a", NewColumn::values(&a)).with("b", NewColumn::values(&a));
        let names = Names::new().at(u64::try_from(1000 + fragment).unwrap());
        let write = Array::open(path).unwrap().write().names(names);
        write.range("x", fragment * len..=(fragment + 1) * len - 1).unwrap().cells(cells).unwrap();
    }
}

fn check(what: &str, make: impl Fn(&Path, i64), migrate: &Migrate) {
    for times in [1, 10, 100] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array");
        make(&path, CELLS * times);
        let array = ArrayOptions::new().threads(1).open(&path).unwrap();
        let mut cells = 0;
        let peak = peak_while(|| {
            let plan = migrate.clone().budget(BUDGET).plan(&array).unwrap();
            cells = plan.into_folder(&folder.path().join("new"), &CreateOptions::new()).unwrap().cells;
        });
        println!("{what}, {times} times the cells: {} KiB at the peak", peak >> 10);
        assert_eq!(cells, u64::try_from(CELLS * times).unwrap());
        assert!(peak < BUDGET as u64 + CONSTANT, "{what}, {times} times the cells: {peak}");
        assert!(peak > 1 << 18, "nothing was measured: {peak}");
    }
}

// Allocations are counted on one thread.
#[test]
fn what_is_held_keeps_to_the_budget() {
    let to = |version: u32| Migrate::new().to(FormatVersion::new(version).unwrap());
    check("sparse", sparse, &to(9));
    check("dense", dense, &to(9));
    check("sparse, other tiles", sparse, &to(22).tile_extent("x", Scalar::I64(1000)));
    check("dense, other tiles", dense, &to(22).tile_extent("x", Scalar::I64(3000)));
    check("sparse, without history", sparse, &to(4).flatten());
    check("dense, without history", dense, &to(4).flatten());
}
