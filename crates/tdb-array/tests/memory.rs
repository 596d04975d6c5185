//! Peak memory of a query or a write: the memory limit plus a constant.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tdb_array::tdb_condition::Condition;
use tdb_array::{Aggregate, Array, ArrayOptions, Order, WriteBatch, WriteColumn, WriteIds};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_storage::LocalStorage;
use tdb_testkit::LatentStorage;
use tdb_testkit::allocations::peak_while;
use tdb_types::{CellValNum, Datatype, Layout};

/// Guaranteed by [`tdb_array::Query::budget`].
const CONSTANT: u64 = 96 << 20;
/// Guaranteed by the same method for each thread.
const EACH_THREAD: u64 = 8 << 20;
/// Guaranteed by [`tdb_array::Write::budget`], including the current batch.
const WRITE_CONSTANT: u64 = 32 << 20;

/// The part of [`CONSTANT`] that reads without a sort need.
const UNSORTED_CONSTANT: u64 = 32 << 20;

/// Cells of arrays that are read or written in the order of the tiles. Memory must not grow with
/// the number of cells.
const CELLS: i64 = 8_000_000;
/// Cells of arrays that are sorted. A sort reads each tile many times, and the time grows with the
/// square of the number of cells.
const SORTED_CELLS: i64 = 2_500_000;
/// Cells of an array with a group for each remaining cell.
const GROUPED_CELLS: i64 = 200_000;

fn create(path: &Path, schema: ArraySchema) {
    Array::create(path, schema).unwrap();
}

fn side(name: &str, high: i64) -> Dimension {
    Dimension::new(name, 0i64..=high)
}

const WORDS: [&str; 4] = ["", "word", "a longer word than the others", "pair"];

/// Creates an array of two dimensions, with fields of the requested kind.
fn sparse(path: &Path, cells: i64, order: Layout, fragments: i64, strings: bool) {
    let builder = SchemaBuilder::sparse().dimension(side("y", 99_999_999)).dimension(side("x", 99_999_999));
    let builder = builder.capacity(20_000).cell_order(order).coords_filters(Default::default());
    let float = |name| Attribute::new(name, Datatype::Float64);
    let builder = builder.offsets_filters(Default::default()).attribute(float("a"));
    let builder = match strings {
        true => builder
            .attribute(Attribute::new("s", Datatype::StringAscii).with_cell_val_num(CellValNum::Var))
            .attribute(float("n").nullable(true)),
        false => builder.attribute(float("b")),
    };
    create(path, builder.build().unwrap());
    for fragment in 0..fragments {
        let x: Vec<i64> = (0..cells / fragments).map(|cell| (cell * 7919 + fragment) % 99_999_989).collect();
        let y: Vec<i64> = x.iter().map(|x| x * 31 % 99_999_971).collect();
        let value: Vec<f64> = x.iter().map(|x| *x as f64).collect();
        let new = WriteBatch::new().with("x", &x).with("y", &y).with("a", &value);
        let new = match strings {
            true => new
                .with("s", WriteColumn::strings(x.iter().map(|x| WORDS[(*x % 4) as usize])))
                .with("n", WriteColumn::options(x.iter().map(|x| (x % 3 > 0).then_some(*x as f64)))),
            false => new.with("b", &value),
        };
        Array::open(path).unwrap().write().cells(new).unwrap();
    }
    if strings {
        let array = Array::open(path).unwrap();
        array.delete_cells(&Condition::field("a").lt(10_000_000.0), &WriteIds::new()).unwrap();
    }
}

fn dense(path: &Path, strings: bool) {
    let rows = CELLS / 1000;
    let y = side("y", rows - 1).with_tile(100);
    let x = side("x", 999).with_tile(250);
    let builder = SchemaBuilder::dense().dimension(y).dimension(x).attribute(Attribute::new("a", Datatype::Float64));
    let other = match strings {
        true => Attribute::new("b", Datatype::StringAscii).with_cell_val_num(CellValNum::Var),
        false => Attribute::new("b", Datatype::Float64).nullable(true),
    };
    create(path, builder.offsets_filters(Default::default()).attribute(other).build().unwrap());
    let values: Vec<f64> = (0..rows * 1000).map(|cell| cell as f64).collect();
    let new = WriteBatch::new().with("a", &values);
    let new = match strings {
        true => new.with("b", WriteColumn::strings((0..values.len()).map(|cell| WORDS[cell % 4]))),
        false => new.with("b", WriteColumn::options(values.iter().map(|value| (value % 3.0 > 0.0).then_some(*value)))),
    };
    Array::open(path).unwrap().write().cells(new).unwrap();
}

/// Peak resident bytes of the process since the last [`forget_peak`], and current resident bytes.
/// Available on Linux only.
fn resident() -> Option<(u64, u64)> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let of = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
    };
    Some((of("VmHWM:")?, of("VmRSS:")?))
}

fn forget_peak() {
    // After a failure, the higher peak of the whole process is used.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Returns the peak of the bytes held while `run` runs.
fn peak_of(run: impl FnOnce()) -> u64 {
    forget_peak();
    let before = resident();
    let peak = peak_while(run);
    // Memory of other threads and large pages come from the system and appear only in system
    // figures.
    peak.max(before.zip(resident()).map_or(0, |((_, before), (peak, _))| peak.saturating_sub(before)))
}

/// A way to read an array.
#[derive(Clone, Copy, Debug)]
struct Case {
    order: Order,
    budget: usize,
    threads: usize,
    slow: bool,
}

const CASE: &str = "TDB_MEMORY_CASE";

/// Makes glibc return freed memory immediately, so that resident memory equals held memory.
const ALLOCATOR: [(&str, &str); 3] =
    [("MALLOC_ARENA_MAX", "1"), ("MALLOC_MMAP_THRESHOLD_", "65536"), ("MALLOC_TRIM_THRESHOLD_", "65536")];

/// Runs a test in a separate process without reusable memory. Returns the printed peak.
fn peak_in_child(test: &str, case: &str) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let output = child.args([test, "--exact", "--nocapture"]).env(CASE, case).envs(ALLOCATOR).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let peak = text.lines().find_map(|line| line.split_once("peak ")?.1.parse().ok());
    peak.unwrap_or_else(|| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// Reads an array. Returns the peak.
fn peak(path: &Path, case: Case) -> u64 {
    let Case { order, budget, threads, slow } = case;
    peak_in_child("one_read", &format!("{} {order} {budget} {threads} {slow}", path.display()))
}

#[test]
fn one_read() {
    let Ok(case) = std::env::var(CASE) else { return };
    let [path, order, budget, threads, slow] = case.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let orders = [Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered];
    let order = orders.into_iter().find(|known| known.to_string() == order).unwrap();
    let options = ArrayOptions::new().threads(threads.parse().unwrap());
    let storage = Arc::new(LocalStorage::new(path));
    let array = match slow {
        "true" => options.open_on(Arc::new(LatentStorage::new(storage, Duration::from_millis(1), 1 << 30))),
        _ => options.open_on(storage),
    };
    let array = array.unwrap();
    let peak = peak_of(|| {
        let batches = array.read().order(order).budget(budget.parse().unwrap()).batches().unwrap();
        assert!(batches.map(|batch| batch.unwrap().len()).sum::<usize>() > 0);
    });
    println!("\npeak {peak}");
}

/// Creates an array, reads it in all ways, and checks the memory limit.
fn check(create: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    create(&path);
    let case = |order, budget, threads, slow| Case { order, budget, threads, slow };
    let orders = [Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered];
    let large = orders.map(|order| case(order, 200 << 20, 2, false));
    let small = orders.map(|order| case(order, 4 << 20, 1, false));
    let others = [
        case(Order::ColMajor, 40 << 20, 1, false),
        case(Order::ColMajor, 64 << 10, 2, false),
        case(Order::RowMajor, 40 << 20, 2, true),
        case(Order::Unordered, 400 << 20, 2, true),
    ];
    let mut over = Vec::new();
    for case in large.into_iter().chain(small).chain(others) {
        let constant = match case.order {
            Order::Global | Order::Unordered => UNSORTED_CONSTANT,
            _ => CONSTANT,
        };
        let (peak, most) = (peak(&path, case), case.budget as u64 + constant + case.threads as u64 * EACH_THREAD);
        println!("{case:?}: {} of {} MiB", peak >> 20, most >> 20);
        if peak > most {
            over.push((case, peak));
        }
    }
    assert!(over.is_empty(), "{over:?}");
}

#[test]
fn reads_of_a_sparse_fragment_keep_to_their_budget() {
    check(|path| sparse(path, SORTED_CELLS, Layout::RowMajor, 1, false));
}

#[test]
fn reads_of_fragments_along_the_hilbert_curve_keep_to_their_budget() {
    check(|path| sparse(path, SORTED_CELLS, Layout::Hilbert, 4, false));
}

#[test]
fn reads_of_strings_nulls_and_deleted_cells_keep_to_their_budget() {
    check(|path| sparse(path, SORTED_CELLS, Layout::RowMajor, 2, true));
}

#[test]
fn dense_reads_keep_to_their_budget() {
    check(|path| dense(path, false));
}

#[test]
fn dense_reads_of_strings_keep_to_their_budget() {
    check(|path| dense(path, true));
}

#[test]
fn groups_keep_to_their_budget() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("strings");
    sparse(&path, GROUPED_CELLS, Layout::RowMajor, 2, true);
    let mut over = Vec::new();
    // Numbers, then strings and numbers, with one thread and with two.
    for (by, budget, threads) in [("a", 24 << 20, 1), ("s,a", 24 << 20, 2)] {
        let peak = peak_in_child("one_group_by", &format!("{} {by} {budget} {threads}", path.display()));
        let most = budget as u64 + UNSORTED_CONSTANT + threads * EACH_THREAD;
        println!("groups by {by}, {threads} threads: {} of {} MiB", peak >> 20, most >> 20);
        if peak > most {
            over.push((by, budget, threads, peak));
        }
    }
    assert!(over.is_empty(), "{over:?}");
}

#[test]
fn one_group_by() {
    let Ok(case) = std::env::var(CASE) else { return };
    let [path, by, budget, threads] = case.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let array = ArrayOptions::new().threads(threads.parse().unwrap()).open(path).unwrap();
    let peak = peak_of(|| {
        let query = array.read().budget(budget.parse().unwrap());
        let asked = [Aggregate::count(), Aggregate::sum("n"), Aggregate::max("s"), Aggregate::median("y")];
        let groups = query.group_by(by.split(','), asked).unwrap();
        assert!(groups.map(|batch| batch.unwrap().len()).sum::<usize>() > 150_000);
    });
    println!("\npeak {peak}");
}

/// The peak memory of a stream is the memory limit, independent of the number of cells.
#[test]
fn a_stream_keeps_to_its_budget() {
    for budget in [1 << 20, 16 << 20, 100 << 20] {
        let peak = peak_in_child("one_stream", &budget.to_string());
        println!("stream, {} MiB: {} MiB", budget >> 20, peak >> 20);
        assert!(peak <= budget + WRITE_CONSTANT, "{budget}: {peak}");
    }
}

#[test]
fn one_stream() {
    const BATCH: i64 = 100_000;
    let Ok(budget) = std::env::var(CASE) else { return };
    let folder = tempfile::tempdir().unwrap();
    let builder = SchemaBuilder::sparse().dimension(side("y", 99_999_999)).capacity(10_000);
    let builder = builder.coords_filters(Default::default()).offsets_filters(Default::default());
    let text = Attribute::new("s", Datatype::StringAscii).with_cell_val_num(CellValNum::Var);
    let path = folder.path().join("array");
    create(&path, builder.attribute(Attribute::new("a", Datatype::Int64)).attribute(text).build().unwrap());
    let array = ArrayOptions::new().threads(2).open(path).unwrap();
    let peak = peak_of(|| {
        let mut writer = array.write().budget(budget.parse().unwrap()).global_order().unwrap();
        for start in (0..CELLS).step_by(BATCH as usize) {
            let y: Vec<i64> = (start..start + BATCH).collect();
            let s = WriteColumn::strings(y.iter().map(|y| WORDS[(*y % 4) as usize]));
            let cells = WriteBatch::new().with("y", &y).with("a", &y);
            writer.push(cells.with("s", s)).unwrap();
        }
        assert_eq!(writer.commit().unwrap().cells as i64, CELLS);
    });
    println!("\npeak {peak}");
}
