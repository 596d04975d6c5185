//! What queries touch, and how many requests that takes: lost laziness shows here.

#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::fmt::Write;
use std::sync::Arc;

use tdb_array::{Array, ArrayOptions, Order};
use tdb_storage::{Counters, CountingStorage, LocalStorage};
use tdb_testkit::fixtures::{self, Fixture};

fn open(fixture: &Fixture) -> (Array, CountingStorage) {
    let storage = CountingStorage::new(Arc::new(LocalStorage::new(fixture.array_dir())));
    let array = ArrayOptions::new().threads(1).open_on(Arc::new(storage.clone())).unwrap();
    (array, storage)
}

fn requests(counters: Counters) -> String {
    let Counters { lists, opens, reads, bytes, .. } = counters;
    format!("{lists} listings, {opens} files opened, {reads} reads, {bytes} bytes")
}

/// The plan of a query, and the requests that opening, planning and reading make. `ranges` are of integer dimensions.
fn trace(fixture: &str, fields: &[&str], ranges: &[(&str, i64, i64)], order: Order) -> String {
    let fixture = fixtures::named(&format!("v22-by-2.30.0-{fixture}"));
    let (array, storage) = open(&fixture);
    let mut text = format!("open: {}\n", requests(storage.take()));
    let mut query = array.read().order(order).select(fields).unwrap();
    for (dimension, first, last) in ranges {
        query = query.range(dimension, *first..=*last).unwrap();
    }
    let plan = query.plan().unwrap();
    writeln!(text, "plan: {}\n{plan}", requests(storage.take())).unwrap();
    let cells: usize = query.batches().unwrap().map(|batch| batch.unwrap().len()).sum();
    writeln!(text, "read: {}, {cells} cells", requests(storage.take())).unwrap();
    text
}

#[test]
fn dense_slice() {
    let ranges = [("y", 3, 4), ("x", 2, 2)];
    insta::assert_snapshot!(trace("dense-2d-row-row", &["a"], &ranges, Order::RowMajor));
}

#[test]
fn dense_layers() {
    insta::assert_snapshot!(trace("dense-overlapping", &["a"], &[], Order::RowMajor));
}

#[test]
fn dense_cells_of_variable_length() {
    insta::assert_snapshot!(trace("dense-var-partial", &["s"], &[], Order::RowMajor));
}

#[test]
fn sparse_box() {
    let ranges = [("y", -4, -1), ("x", 3, 9)];
    insta::assert_snapshot!(trace("sparse-2d", &["a"], &ranges, Order::Global));
}

#[test]
fn sparse_all_of_one_field() {
    insta::assert_snapshot!(trace("sparse-many-tiles", &["a"], &[], Order::Unordered));
}

#[test]
fn sparse_layers() {
    insta::assert_snapshot!(trace("sparse-overlapping", &["a"], &[], Order::RowMajor));
}
