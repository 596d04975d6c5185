//! Plans of queries and the number of requests. Detects lost laziness.

use std::sync::Arc;

use tdb_array::{Array, ArrayOptions, Order, Query};
use tdb_rtree::DimRange;
use tdb_storage::{Counters, CountingStorage, LocalStorage};
use tdb_testkit::fixtures::{self, Fixture};
use tdb_types::Scalar;

use crate::arrays::count;

fn open(fixture: &Fixture) -> (Array, CountingStorage) {
    let storage = CountingStorage::new(Arc::new(LocalStorage::new(fixture.array_dir())));
    let array = ArrayOptions::new().threads(1).open_on(Arc::new(storage.clone())).unwrap();
    (array, storage)
}

fn requests(counters: Counters) -> String {
    let Counters { lists, opens, reads, bytes, .. } = counters;
    format!("{lists} listings, {opens} files opened, {reads} reads, {bytes} bytes")
}

/// Returns the plan of a query, and the requests of opening, planning and reading. `ranges` are on
/// integer dimensions.
fn trace(fixture: &str, fields: &[&str], ranges: &[(&str, i64, i64)], order: Order) -> String {
    let fixture = fixtures::named(&format!("v22-by-2.30.0-{fixture}"));
    let (array, storage) = open(&fixture);
    let text = format!("open: {}\n", requests(storage.take()));
    let mut query = array.read().order(order).select(fields).unwrap();
    for (dimension, first, last) in ranges {
        query = query.range(dimension, *first..=*last).unwrap();
    }
    text + &planned_and_read(query, &storage)
}

fn planned_and_read(query: Query, storage: &CountingStorage) -> String {
    let plan = query.plan().unwrap();
    let planned = requests(storage.take());
    let cells = count(query);
    format!("plan: {planned}\n{plan}\nread: {}, {cells} cells\n", requests(storage.take()))
}

#[test]
fn plans_and_requests() {
    type Ranges<'a> = &'a [(&'a str, i64, i64)];
    let cases: [(&str, &str, &str, Ranges<'_>, Order); 6] = [
        ("dense_slice", "dense-2d-row-row", "a", &[("y", 3, 4), ("x", 2, 2)], Order::RowMajor),
        ("dense_layers", "dense-overlapping", "a", &[], Order::RowMajor),
        ("dense_cells_of_variable_length", "dense-var-partial", "s", &[], Order::RowMajor),
        ("sparse_box", "sparse-2d", "a", &[("y", -4, -1), ("x", 3, 9)], Order::Global),
        ("sparse_all_of_one_field", "sparse-many-tiles", "a", &[], Order::Unordered),
        ("sparse_layers", "sparse-overlapping", "a", &[], Order::RowMajor),
    ];
    for (name, fixture, field, ranges, order) in cases {
        insta::assert_snapshot!(name, trace(fixture, &[field], ranges, order));
    }
}

/// Like [`trace`], for any kind of query.
fn trace_of(fixture: &str, query: impl Fn(&Array) -> Query) -> String {
    let fixture = fixtures::named(&format!("v22-by-2.30.0-{fixture}"));
    let (array, storage) = open(&fixture);
    let query = query(&array);
    storage.take();
    planned_and_read(query, &storage)
}

#[test]
fn sparse_many_ranges() {
    insta::assert_snapshot!(trace_of("sparse-many-tiles", |array| {
        let name = array.schema().dimensions()[0].name().to_owned();
        let DimRange::Fixed { lo, hi } = array.schema().limits(0) else { unreachable!() };
        let physical = array.schema().dimensions()[0].physical();
        let coordinate = |key| tdb_array::Coordinate::from(Scalar::from_key(physical, key));
        let ranges = (lo..=hi).step_by(97).map(|key| coordinate(key)..=coordinate(key.saturating_add(2).min(hi)));
        array.read().select(["a"]).unwrap().ranges(&name, ranges.take(1000)).unwrap()
    }));
}

#[test]
fn sparse_points() {
    insta::assert_snapshot!(trace_of("sparse-2d", |array| {
        array.read().select(["a"]).unwrap().points([("y", &[-10i32, 9]), ("x", &[24i32, 7])]).unwrap()
    }));
}

#[test]
fn dense_points_touch_less_than_their_product() {
    let points = |array: &Array| {
        array.read().select(["a"]).unwrap().points([("y", &[0i32, 4, 0]), ("x", &[1i32, 9, 1])]).unwrap()
    };
    let ranges = |array: &Array| {
        let query = array.read().select(["a"]).unwrap();
        query.ranges("y", [0..=0, 4..=4]).unwrap().ranges("x", [1..=1, 9..=9]).unwrap()
    };
    insta::assert_snapshot!([trace_of("dense-2d-row-row", points), trace_of("dense-2d-row-row", ranges)].join("\n"));
}
