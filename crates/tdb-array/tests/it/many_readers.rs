//! Concurrent queries on one open array.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use crate::arrays::write_line;
use crate::latency::check_trips;
use crate::two_arrays::{array_on, create};
use tdb_array::{Array, ArrayOptions, Batch, Order, Query, WriteBatch, WriteColumn};
use tdb_condition::{Condition, field};
use tdb_filters::{Filter, FilterPipeline};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_storage::{MemoryStorage, ReadProfile};
use tdb_testkit::LatentStorage;
use tdb_types::{CellValNum, Datatype};

const THREADS: usize = 8;

/// Writes overlapping fragments.
fn written(is_dense: bool, fragments: i64) -> Arc<MemoryStorage> {
    let x = Dimension::new("x", 0i64..=99_999).with_tile(100);
    let zstd = || FilterPipeline::new(vec![Filter::Zstd { level: 1 }]);
    let builder = if is_dense { SchemaBuilder::dense() } else { SchemaBuilder::sparse().capacity(40) };
    let schema = builder
        .dimension(x)
        .attribute(Attribute::new("a", Datatype::Int64).with_filters(zstd()))
        .attribute(Attribute::new("b", Datatype::Int64).with_filters(zstd()))
        .attribute(Attribute::new("t", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var).with_filters(zstd()))
        .build()
        .unwrap();
    let storage = create(&schema);
    for fragment in 0..fragments {
        let x: Vec<i64> = (fragment * 10_000..fragment * 10_000 + 30_000).collect();
        let value = |x: &i64, factor: i64| (x + fragment).wrapping_mul(factor) % 1_000_003;
        let a: Vec<i64> = x.iter().map(|x| value(x, 7919)).collect();
        let b: Vec<i64> = x.iter().map(|x| value(x, 104_729)).collect();
        let cells = WriteBatch::new()
            .with("a", &a)
            .with("b", &b)
            .with("t", WriteColumn::strings(a.iter().map(|a| format!("t{}", a % 1000))));
        let array = array_on(&storage, 1);
        write_line(&array, array.write(), &x, cells);
    }
    storage
}

/// Returns queries of all kinds.
fn query(array: &Array, number: usize) -> Query {
    let query = array.read().select(["x", "a", "b", "t"]).unwrap();
    let order = [Order::RowMajor, Order::Global, Order::ColMajor][number % 3];
    let first = number as i64 * 4000;
    match number % 4 {
        0 => query.order(order).range("x", first..first + 9000).unwrap(),
        1 => query.order(order).filter(field("a").lt(5000_i64)).only_matching(),
        2 => query.order(order).budget(64 << 10).range("x", first..).unwrap(),
        _ => query
            .order(order)
            .filter(field("t").eq("t7") | field("b").gt(990_000_i64))
            .only_matching()
            .batch_cells(1000),
    }
}

/// Returns the bytes of all cells, column by column.
fn cells(query: Query) -> Vec<Vec<u8>> {
    let batches: Vec<Batch> = query.batches().unwrap().map(Result::unwrap).collect();
    let columns = batches.first().map_or(0, |batch| batch.columns().len());
    let bytes = |column: usize| batches.iter().flat_map(|batch| batch.columns()[column].bytes().to_vec()).collect();
    (0..columns).map(bytes).collect()
}

#[test]
fn concurrent_queries_equal_sequential_queries() {
    for is_dense in [false, true] {
        let storage = written(is_dense, 4);
        let alone: Vec<_> = (0..THREADS).map(|number| cells(query(&array_on(&storage, 1), number))).collect();
        assert!(alone.iter().all(|columns| columns.len() == 4 && !columns[0].is_empty()));
        for threads in [1, 3] {
            // Metadata is not loaded at the start.
            let array = array_on(&storage, threads);
            let begin = Barrier::new(THREADS);
            thread::scope(|scope| {
                for (number, expected) in alone.iter().enumerate() {
                    let (array, begin) = (&array, &begin);
                    scope.spawn(move || {
                        begin.wait();
                        for round in 0..3 {
                            assert!(cells(query(array, number)) == *expected, "query {number}, round {round}");
                        }
                    });
                }
            });
        }
    }
}

/// Two queries with statistics of distinct fields do not block each other.
#[test]
fn no_lock_is_held_while_statistics_are_read() {
    let storage = written(false, 1);
    let trips = |names: &[&str]| {
        let latency = Duration::from_millis(100);
        let slow = LatentStorage::with_profile(storage.clone(), latency, 1 << 40, ReadProfile::LOCAL);
        let array = ArrayOptions::new().threads(1).open_on(Arc::new(slow.clone())).unwrap();
        let plan = |condition: Condition| array.read().filter(condition).plan().unwrap();
        // Load everything except the tile statistics of these fields.
        plan(field("t").eq("t7"));
        slow.take_trips();
        let begin = Barrier::new(names.len());
        thread::scope(|scope| {
            for name in names {
                let (begin, plan) = (&begin, &plan);
                scope.spawn(move || {
                    begin.wait();
                    plan(field(*name).gt(500_000_i64));
                });
            }
        });
        slow.take_trips()
    };
    check_trips("two queries", [trips(&["a"])], || [trips(&["a", "b"])]);
}
