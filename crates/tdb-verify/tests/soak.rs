//! Concurrent writers, readers, deletes, consolidations and vacuums, in threads and in another
//! process: every reader sees a committed state.
//!
//! Each write covers the same cells with a single serial number, which also determines the
//! timestamp. A read that mixes two states has two numbers or too few cells. `TDB_SOAK` sets the
//! duration in seconds. The default is 20.
#![allow(clippy::unwrap_used)] // test helpers

use std::env;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tdb_array::tdb_condition::field;
use tdb_array::tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_array::{Array, ArrayError, ArrayOptions, ErrorCategory, MetadataValue, WriteBatch, WriteIds};
use tdb_job::MaintainError;
use tdb_maintain::{Consolidate, ConsolidateFragments, FragmentPlan, Plan, Vacuum};
use tdb_testkit::Ledger;
use tdb_types::Datatype;
use tdb_verify::{Severity, Verify};

/// Number of cells per write.
const CELLS: i32 = 500;
/// Timestamp of the write with serial number 0.
const EPOCH: u64 = 1_700_000_000_000;
/// Environment variable with the path of the array that the other process maintains.
const PLACE: &str = "TDB_SOAK_PLACE";

#[derive(Debug, Default)]
struct Counts {
    writes: AtomicUsize,
    deletes: AtomicUsize,
    reads: AtomicUsize,
    empty: AtomicUsize,
    /// Number of reads that failed because a vacuum had deleted a file.
    again: AtomicUsize,
    consolidations: AtomicUsize,
    vacuums: AtomicUsize,
    verified: AtomicUsize,
    /// Number of jobs that gave way to others.
    gave_way: AtomicUsize,
}

fn add(count: &AtomicUsize) {
    count.fetch_add(1, Ordering::Relaxed);
}

fn schema(is_sparse: bool) -> ArraySchema {
    let builder = if is_sparse { SchemaBuilder::sparse().capacity(64) } else { SchemaBuilder::dense() };
    let place = Dimension::new("place", 0i32..=CELLS - 1);
    builder
        .dimension(place.with_tile(64))
        .attribute(Attribute::new("serial", Datatype::UInt64))
        .attribute(Attribute::new("square", Datatype::UInt64))
        .build()
        .unwrap()
}

fn seconds() -> u64 {
    env::var("TDB_SOAK").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(20)
}

fn write(path: &Path, serial: u64, is_sparse: bool) {
    let array = ArrayOptions::new().threads(1).open(path).unwrap();
    let (serials, squares) = (vec![serial; CELLS as usize], vec![serial * serial; CELLS as usize]);
    let places: Vec<i32> = (0..CELLS).collect();
    let mut cells = WriteBatch::new().with("serial", &serials).with("square", &squares);
    if is_sparse {
        cells = cells.with("place", &places);
    }
    array.write().ids(WriteIds::new().at(EPOCH + serial)).cells(cells).unwrap();
}

/// Reads the serial number, or `None` if the array has no cells.
fn read(path: &Path) -> Result<Result<Option<u64>, String>, ArrayError> {
    let array = ArrayOptions::new().threads(1).open(path)?;
    let (mut serials, mut squares) = (Vec::new(), Vec::new());
    for batch in array.read().select(["serial", "square"])?.batches()? {
        let batch = batch?;
        serials.extend_from_slice(batch.column("serial").unwrap().values::<u64>().unwrap());
        squares.extend_from_slice(batch.column("square").unwrap().values::<u64>().unwrap());
    }
    // No cell of the dense array is written yet.
    if serials.is_empty() || serials.iter().all(|serial| *serial == u64::MAX) {
        return Ok(Ok(None));
    }
    let first = serials[0];
    let is_whole = serials.len() == CELLS as usize && serials.iter().all(|serial| *serial == first);
    if !is_whole || squares.iter().any(|square| *square != first * first) {
        serials.dedup();
        return Ok(Err(format!("mixed, or not whole: {} cells, serials {serials:?}", squares.len())));
    }
    Ok(Ok(Some(first)))
}

/// Returns `true` if the error is a missing file.
fn is_gone(error: &ArrayError) -> bool {
    error.category() == ErrorCategory::Unavailable
}

/// Runs one job after the other, like a maintainer without knowledge of other processes.
fn maintain(path: &Path, counts: &Counts, turn: usize) {
    let array = match ArrayOptions::new().threads(1).open(path) {
        Ok(array) => array,
        Err(error) => {
            assert!(is_gone(&error), "{error}");
            return add(&counts.gave_way);
        }
    };
    let done = match turn % 9 {
        0 | 3 => ConsolidateFragments::new().plan(&array).and_then(FragmentPlan::run).map(drop),
        1 => Consolidate::commits().plan(&array).and_then(Plan::run).map(drop),
        2 => Consolidate::footers().plan(&array).and_then(Plan::run).map(drop),
        4 => Vacuum::commits().plan(&array).and_then(Plan::run).map(drop),
        5 => Vacuum::footers().plan(&array).and_then(Plan::run).map(drop),
        7 => Consolidate::metadata().plan(&array).and_then(Plan::run).map(drop),
        8 => Vacuum::metadata().plan(&array).and_then(Plan::run).map(drop),
        _ => Vacuum::fragments().plan(&array).and_then(Plan::run).map(drop),
    };
    match done {
        Ok(()) => add(if matches!(turn % 9, 0..4 | 7) { &counts.consolidations } else { &counts.vacuums }),
        // Another process holds the lock, has written or deleted a fragment, or has consolidated
        // metadata beyond the time at which the array was opened.
        Err(
            MaintainError::Busy { .. }
            | MaintainError::Conflict { .. }
            | MaintainError::Refused { .. }
            | MaintainError::Between { .. },
        ) => {
            add(&counts.gave_way);
        }
        Err(error) => {
            assert_eq!(error.category(), ErrorCategory::Unavailable, "turn {}: {error}", turn % 9);
            add(&counts.gave_way);
        }
    }
}

/// Starts this program again as the maintaining process.
fn process(path: &Path) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "maintainer", "--ignored"]).env(PLACE, path).spawn().unwrap()
}

#[test]
#[ignore = "runs only in the maintaining process"]
fn maintainer() {
    let Ok(path) = env::var(PLACE) else { return };
    let counts = Counts::default();
    (3..)
        .take_while(|_| Path::new(&path).join("go-on").exists())
        .for_each(|turn| maintain(Path::new(&path), &counts, turn));
}

fn soak(is_sparse: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    Array::create(&path, schema(is_sparse)).unwrap();
    std::fs::write(path.join("go-on"), []).unwrap();
    let (ledger, counts) = (Ledger::default(), Counts::default());
    let (wrong, one_writer) = (Mutex::new(Vec::new()), Mutex::new(()));
    let end = Instant::now() + Duration::from_millis(500 * seconds());
    let goes_on = || Instant::now() < end && wrong.lock().unwrap().is_empty();
    let mut other = process(&path);
    thread::scope(|scope| {
        for writer in 0..2 {
            let (path, ledger, counts, one_writer) = (&path, &ledger, &counts, &one_writer);
            scope.spawn(move || {
                let mut turn = 0;
                while goes_on() {
                    turn += 1;
                    // Deletes all older cells.
                    let deletes = is_sparse && writer == 0 && turn % 8 == 0;
                    // In a dense array, a late commit is newer than a consolidated fragment around
                    // it.
                    let alone = (!is_sparse).then(|| one_writer.lock().unwrap());
                    let serial = ledger.begin(deletes);
                    if deletes {
                        let array = ArrayOptions::new().threads(1).open(path).unwrap();
                        let older = field("serial").lt(serial);
                        array.delete_cells(&older, &WriteIds::new().at(EPOCH + serial)).unwrap();
                        add(&counts.deletes);
                    } else {
                        write(path, serial, is_sparse);
                        add(&counts.writes);
                    }
                    ledger.committed(serial);
                    drop(alone);
                    thread::sleep(Duration::from_millis(5));
                }
            });
        }
        for _ in 0..2 {
            let (path, ledger, counts, wrong) = (&path, &ledger, &counts, &wrong);
            scope.spawn(move || {
                while goes_on() {
                    let least = ledger.least();
                    let judged = match read(path) {
                        Ok(seen) => seen.and_then(|seen| {
                            add(if seen.is_some() { &counts.reads } else { &counts.empty });
                            ledger.may_see(least, seen)
                        }),
                        Err(error) if is_gone(&error) => {
                            add(&counts.again);
                            Ok(())
                        }
                        Err(error) => Err(error.to_string()),
                    };
                    if let Err(why) = judged {
                        wrong.lock().unwrap().push(why);
                    }
                }
            });
        }
        scope.spawn(|| {
            let mut serial = 0;
            while goes_on() {
                serial += 1;
                let value = MetadataValue::text(&format!("{serial}")).unwrap();
                // A vacuum may have deleted files since the listing.
                let array = match ArrayOptions::new().threads(1).open(&path) {
                    Ok(array) => array,
                    Err(error) if is_gone(&error) => continue,
                    Err(error) => return wrong.lock().unwrap().push(error.to_string()),
                };
                array.write_metadata().put("serial", value).commit().unwrap();
                thread::sleep(Duration::from_millis(5));
            }
        });
        scope.spawn(|| {
            while goes_on() {
                let report = Verify::new().threads(1).folder(&path).unwrap();
                if let Some(finding) = report.findings.iter().find(|finding| finding.severity == Severity::Finding) {
                    wrong.lock().unwrap().push(finding.to_string());
                }
                add(&counts.verified);
            }
        });
        for first in 0..2 {
            let (path, counts) = (&path, &counts);
            scope.spawn(move || (first..).take_while(|_| goes_on()).for_each(|turn| maintain(path, counts, turn)));
        }
    });
    std::fs::remove_file(path.join("go-on")).unwrap();
    assert!(other.wait().unwrap().success(), "the other process failed");
    println!("{} committed; {counts:?}", ledger.count());
    assert_eq!(wrong.into_inner().unwrap(), [""; 0]);
    assert!(
        counts.reads.into_inner() > 10 && counts.consolidations.into_inner() > 0 && counts.vacuums.into_inner() > 0
    );
    // The final state is that of the last write.
    let last = read(&path).unwrap().unwrap();
    ledger.may_see(ledger.least(), last).unwrap();
    let report = Verify::new().folder(&path).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    for turn in 0..9 {
        maintain(&path, &Counts::default(), turn);
    }
    assert_eq!(read(&path).unwrap().unwrap(), last);
}

#[test]
fn readers_of_sparse_arrays_see_what_was_committed() {
    soak(true);
}

#[test]
fn readers_of_dense_arrays_see_what_was_committed() {
    soak(false);
}
