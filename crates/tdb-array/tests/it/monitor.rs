//! Cancelled queries, and the progress of queries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use crate::arrays::write_line;
use crate::two_arrays::{array_on, create};
use tdb_array::tdb_condition::field;
use tdb_array::{Array, ArrayError, ArrayOptions, ErrorCategory, Monitor, Order, Query, WriteBatch, WriteColumn};
use tdb_filters::{Filter, FilterPipeline};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_storage::MemoryStorage;
use tdb_testkit::{LatentStorage, MeanwhileStorage, fixtures};
use tdb_types::{CellValNum, Datatype};

/// Cells of the only tile.
const CELLS: i64 = 1 << 20;

/// An array with one large tile.
fn one_tile(sparse: bool) -> ArraySchema {
    let x = Dimension::new("x", 0i64..=CELLS - 1);
    let x = x.with_tile(CELLS);
    let builder = if sparse { SchemaBuilder::sparse().capacity(CELLS.cast_unsigned()) } else { SchemaBuilder::dense() };
    builder.dimension(x).attribute(Attribute::new("a", Datatype::Int64)).build().unwrap()
}

fn filled(sparse: bool) -> Arc<MemoryStorage> {
    let storage = create(&one_tile(sparse));
    let values: Vec<i64> = (0..CELLS).collect();
    let array = array_on(&storage, 1);
    write_line(&array, array.write(), &values, WriteBatch::new().with("a", &values));
    storage
}

/// Reads all batches. Returns the first error.
fn run(query: Query) -> Result<usize, ArrayError> {
    query.batches()?.map(|batch| batch.map(|batch| batch.len())).sum()
}

/// Returns the number of operations and the result of a query cancelled in operation `at`.
fn reads(storage: &Arc<MemoryStorage>, at: u64, query: impl Fn(&Array) -> Query) -> (u64, Result<usize, ArrayError>) {
    let (monitor, before) = (Monitor::new(), Arc::new(AtomicU64::new(u64::MAX)));
    let (cancelled, loaded) = (monitor.clone(), before.clone());
    let storage = MeanwhileStorage::new(storage.clone(), move |n, _| {
        if n.checked_sub(loaded.load(SeqCst)) == Some(at) {
            cancelled.cancel();
        }
    });
    let array = ArrayOptions::new().threads(1).open_on(Arc::new(storage.clone())).unwrap();
    // Load the metadata first.
    query(&array).plan().unwrap();
    before.store(storage.operations(), SeqCst);
    let result = run(query(&array).monitor(&monitor));
    (storage.operations() - before.load(SeqCst), result)
}

#[test]
fn cancelled_queries_end_within_a_tile() {
    for sparse in [false, true] {
        let storage = filled(sparse);
        let query = |array: &Array| array.read().select(["a"]).unwrap().budget(1 << 30);
        let (all, cells) = reads(&storage, u64::MAX, query);
        assert_eq!(cells.unwrap() as i64, CELLS);
        // The tile consists of many chunks, each read separately.
        assert!(all > 50, "{all} operations");
        for at in [1, 2, 20, all - 2] {
            let (done, result) = reads(&storage, at, query);
            let error = result.unwrap_err();
            assert!(matches!(error, ArrayError::Cancelled), "{error}");
            assert_eq!((error.category(), error.to_string().as_str()), (ErrorCategory::Cancelled, "cancelled"));
            assert!(done <= at + 2, "sparse: {sparse}; cancelled in operation {at}, but {done} ran");
        }
    }
}

#[test]
fn cancellation_is_permanent_and_per_monitor() {
    let storage = filled(true);
    let array = array_on(&storage, 2);
    let (one, other) = (Monitor::new(), Monitor::new());
    let query = || array.read().budget(64 << 10).order(Order::RowMajor);
    let mut cancelled = query().monitor(&one).batches().unwrap();
    let mut lives = query().monitor(&other).batches().unwrap();
    assert!(cancelled.next().unwrap().is_ok() && lives.next().unwrap().is_ok());
    std::thread::scope(|scope| drop(scope.spawn(|| one.cancel())));
    assert!(one.is_cancelled() && !other.is_cancelled());
    // Batches that are already complete are not returned.
    assert!(matches!(cancelled.next(), Some(Err(ArrayError::Cancelled))));
    assert!(cancelled.next().is_none());
    assert!(matches!(query().monitor(&one).plan(), Err(ArrayError::Cancelled)));
    let rest: usize = lives.map(|batch| batch.unwrap().len()).sum();
    assert!(rest > 0 && other.progress().bytes == other.progress().planned_bytes);
    assert_eq!(run(query()).unwrap() as i64, CELLS);
}

#[test]
fn cancellation_stops_prefetching() {
    let x = Dimension::new("x", 0i64..=3_999_999);
    let x = x.with_tile(1000);
    let schema = SchemaBuilder::dense().dimension(x).attribute(Attribute::new("a", Datatype::Int64)).build().unwrap();
    let storage = create(&schema);
    let values: Vec<i64> = (0..4_000_000).map(|x| x * x).collect();
    array_on(&storage, 1).write().cells(WriteBatch::new().with("a", &values)).unwrap();
    // With a small memory limit, 8 MiB of 32 MB are requested at once. Further requests follow as
    // the read proceeds.
    let latent = LatentStorage::new(storage, Duration::from_millis(20), 1 << 30);
    let array = ArrayOptions::new().threads(1).open_on(Arc::new(latent)).unwrap();
    let monitor = Monitor::new();
    let mut batches = array.read().budget(64 << 10).monitor(&monitor).batches().unwrap();
    batches.next().unwrap().unwrap();
    monitor.cancel();
    assert!(matches!(batches.next(), Some(Err(ArrayError::Cancelled))));
    // Pending requests complete, but no further requests follow, even while the cancelled query is
    // alive.
    std::thread::sleep(Duration::from_millis(500));
    let fetched = array.counters().bytes;
    assert!((1 << 20..20 << 20).contains(&fetched), "{fetched}");
    drop(batches);
}

/// Reads to the end. Checks that progress advances and ends at the planned values.
fn follow(query: Query, what: &str) {
    let monitor = Monitor::new();
    let plan = query.plan().unwrap();
    for fragment in &plan.fragments {
        let read = fragment.tiles.len() as u64;
        assert_eq!(fragment.pruned as u64, fragment.pruned_by.iter().map(|pruned| pruned.tiles).sum::<u64>(), "{what}");
        let left_out = fragment.outside + fragment.hidden + fragment.pruned as u64;
        assert_eq!(read + left_out, fragment.tile_count, "{what}: {fragment:?}");
    }
    let mut before = monitor.progress();
    for batch in query.monitor(&monitor).batches().unwrap() {
        batch.unwrap();
        let now = monitor.progress();
        assert_eq!((now.planned_tiles, now.planned_bytes), (plan.tile_count() as u64, plan.bytes()), "{what}");
        assert!(before.tiles <= now.tiles && now.tiles <= now.planned_tiles, "{what}: {now:?}");
        assert!(before.bytes <= now.bytes && now.bytes <= now.planned_bytes, "{what}: {now:?}");
        before = now;
    }
    let end = monitor.progress();
    assert_eq!((end.tiles, end.bytes), (end.planned_tiles, end.planned_bytes), "{what}");
    assert_eq!((end.planned_tiles, end.planned_bytes), (plan.tile_count() as u64, plan.bytes()), "{what}");
}

#[test]
fn progress_ends_at_what_was_planned() {
    let mut followed = 0;
    for fixture in fixtures::all() {
        let Ok(array) = ArrayOptions::new().threads(2).open_on(fixture.array_storage()) else { continue };
        let mut orders = vec![Order::RowMajor, Order::Global];
        if !array.schema().is_dense() {
            orders.push(Order::Unordered);
        }
        for order in orders {
            let query = || array.read().order(order);
            if query().plan().is_err() || run(query()).is_err() {
                continue;
            }
            let what = format!("{} {order}", fixture.name());
            follow(query(), &what);
            // Tiles are unfiltered repeatedly.
            follow(query().budget(1), &what);
            followed += 1;
        }
    }
    assert!(followed > 100, "{followed}");
}

#[test]
fn progress_with_conditions_ends_at_what_was_planned() {
    let storage = many_tiles();
    let array = array_on(&storage, 2);
    for (number, condition) in [field("a").lt(10_i64), field("a").lt(0_i64), field("t").eq("7"), field("a").gt(500_i64)]
        .into_iter()
        .enumerate()
    {
        for order in [Order::RowMajor, Order::Unordered] {
            let query = array.read().filter(condition.clone()).order(order).budget(4096);
            follow(query, &format!("condition {number}, {order}"));
        }
    }
}

/// Two overlapping fragments of a sparse array.
fn many_tiles() -> Arc<MemoryStorage> {
    let x = Dimension::new("x", 0i64..=9999);
    let zstd = || FilterPipeline::new(vec![Filter::Zstd { level: 1 }]);
    let schema = SchemaBuilder::sparse()
        .dimension(x)
        .attribute(Attribute::new("a", Datatype::Int64).with_filters(zstd()))
        .attribute(Attribute::new("t", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var).with_filters(zstd()))
        .capacity(50)
        .build()
        .unwrap();
    let storage = create(&schema);
    for fragment in 0..2 {
        let x: Vec<i64> = (0..2000).map(|x| x * 2 + fragment * 1000).collect();
        let a: Vec<i64> = x.iter().map(|x| x % 1000).collect();
        let cells = WriteBatch::new()
            .with("x", &x)
            .with("a", &a)
            .with("t", WriteColumn::strings(a.iter().map(|a| (a % 10).to_string())));
        array_on(&storage, 1).write().cells(cells).unwrap();
    }
    storage
}

#[test]
fn progress_moves_while_cells_come() {
    let storage = many_tiles();
    let monitor = Monitor::new();
    let array = array_on(&storage, 1);
    let query = array.read().order(Order::Global).budget(1024).monitor(&monitor);
    let mut seen: Vec<u64> =
        query.batches().unwrap().map(|batch| drop(batch.unwrap())).map(|()| monitor.progress().bytes).collect();
    seen.dedup();
    assert!(seen.len() > 5, "{seen:?}");
}

#[test]
fn queries_with_one_monitor_add_up() {
    let storage = many_tiles();
    let (array, monitor) = (array_on(&storage, 1), Monitor::new());
    let query = || array.read().select(["a"]).unwrap().monitor(&monitor);
    let bytes = query().plan().unwrap().bytes();
    run(query()).unwrap();
    run(query()).unwrap();
    let progress = monitor.progress();
    assert_eq!((progress.bytes, progress.planned_bytes), (2 * bytes, 2 * bytes));
}
