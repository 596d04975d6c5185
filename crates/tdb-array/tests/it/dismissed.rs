//! Fragments excluded by footers and total statistics. No further data of excluded fragments is
//! read. The result neither loses cells nor shows hidden cells.

use std::sync::Arc;
use std::time::Duration;

use crate::arrays::{count as cells, values, write_line};
use crate::latency::check_trips;
use crate::two_arrays::{array_on, create, names};
use tdb_array::{Array, ArrayOptions, Fragment, Order, Query, TimeRange, WriteBatch, WriteColumn};
use tdb_condition::{Condition, field};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_storage::{CountingStorage, MemoryStorage, Storage};
use tdb_testkit::LatentStorage;
use tdb_types::names::{FOOTERS_EXTENSION, FRAGMENT_META_FOLDER};
use tdb_types::{Datatype, NameForm};

const FRAGMENTS: i64 = 100;
/// Cells per fragment. The number of tiles is so large that the initial read of the metadata's end
/// covers only totals and footer.
const CELLS: i64 = 2000;

/// Writes a hundred fragments at a distance of `step`. `a` is less than 2^40, and null at multiples
/// of 7 only. In fragment `number`, `a` is at least `number` × 2^32.
fn written(is_dense: bool, duplicates: bool, step: i64) -> Arc<MemoryStorage> {
    let x = Dimension::new("x", 0i64..=FRAGMENTS * CELLS - 1);
    let builder = if is_dense { SchemaBuilder::dense() } else { SchemaBuilder::sparse().capacity(2) };
    let builder = builder
        .dimension(x.with_tile(2))
        .attribute(Attribute::new("a", Datatype::Int64).nullable(true))
        .attribute(Attribute::new("b", Datatype::Int64));
    let builder = if is_dense { builder } else { builder.allows_duplicates(duplicates) };
    let storage = create(&builder.build().unwrap());
    let array = array_on(&storage, 1);
    for number in 0..FRAGMENTS {
        let x: Vec<i64> = (number * step..number * step + CELLS).collect();
        // Values with poor compression, to enlarge the statistics.
        let a = x.iter().map(|x| (x % 7 > 0).then_some((number << 32) + x.wrapping_mul(2_654_435_761) % (1 << 32)));
        let cells = WriteBatch::new().with("a", WriteColumn::options(a)).with("b", &x);
        write_line(&array, array.write().ids(names(2 + number.cast_unsigned())), &x, cells);
    }
    storage
}

fn counted(storage: &Arc<MemoryStorage>) -> (Array, CountingStorage) {
    let counting = CountingStorage::new(storage.clone() as Arc<dyn Storage>);
    let array = ArrayOptions::new().threads(1).open_on(Arc::new(counting.clone())).unwrap();
    // Load the footers.
    assert_eq!(array.fragments().unwrap().len() as i64, FRAGMENTS);
    counting.take();
    (array, counting)
}

/// Returns the requests of a query after the footers are loaded, and the number of fragments
/// excluded by their totals.
fn requests(storage: &Arc<MemoryStorage>, query: impl Fn(&Array) -> Query) -> (u64, usize) {
    let (array, counting) = counted(storage);
    let query = query(&array).only_matching();
    assert_eq!(cells(query.clone()), 0, "{:?}", query.plan().unwrap().left_out);
    let counters = counting.take();
    (counters.opens + counters.reads, query.plan().unwrap().left_out.totals)
}

#[test]
fn only_footers_of_fragments_without_a_match_are_read() {
    let conditions: [(&str, Condition); 4] = [
        ("beyond", field("a").gt(1_i64 << 50)),
        ("part of it", field("a").gt(1_i64 << 50) & field("b").gt(0_i64)),
        ("no nulls", field("b").is_null()),
        ("two fields", field("a").gt(1_i64 << 51) | field("b").gt(1_i64 << 50)),
    ];
    for (is_dense, duplicates, step) in
        [(false, true, 0), (false, false, 0), (false, false, CELLS), (true, false, 0), (true, false, CELLS)]
    {
        let storage = written(is_dense, duplicates, step);
        for (name, condition) in &conditions {
            // Fields that are not nullable are known to have no nulls, even without statistics.
            let what = format!("dense: {is_dense}, duplicates: {duplicates}, step {step}, {name}");
            for order in [Order::RowMajor, Order::Global] {
                let (requests, by_totals) = requests(&storage, |array| {
                    array.read().select(["b"]).unwrap().order(order).filter(condition.clone())
                });
                assert_eq!(requests, 0, "{what}, {order}");
                assert!(is_dense || by_totals as i64 == FRAGMENTS, "{what}: {by_totals}");
            }
        }
    }
}

#[test]
fn only_footers_of_fragments_outside_of_the_ranges_are_read() {
    let storage = written(false, false, CELLS);
    let (array, counting) = counted(&storage);
    let query = array.read().select(["b"]).unwrap().range("x", 5 * CELLS..6 * CELLS - 1).unwrap();
    let left_out = query.plan().unwrap().left_out;
    let counters = counting.take();
    assert!(counters.reads < 20, "expected the sections of one fragment only: {counters:?}");
    assert_eq!(cells(query) as i64, CELLS - 1);
    assert!(counting.take().opens <= 2, "the files of one fragment");
    assert_eq!((left_out.region as i64, left_out.totals), (FRAGMENTS - 1, 0));
}

#[test]
fn only_fragments_with_matches_are_read() {
    let storage = written(false, false, CELLS);
    let (array, counting) = counted(&storage);
    let query = array.read().select(["a"]).unwrap().filter(field("a").ge(99_i64 << 32));
    assert_eq!(cells(query.clone()) as i64, (99 * CELLS..100 * CELLS).filter(|x| x % 7 > 0).count() as i64);
    assert!(counting.take().opens <= 3, "the files of one fragment");
    assert_eq!(query.plan().unwrap().left_out.totals as i64, FRAGMENTS - 1);
}

/// All fragments overlap, and the newest holds the only visible cells.
#[test]
fn fragments_without_a_match_hide_older_cells() {
    let storage = written(false, false, 0);
    let array = array_on(&storage, 2);
    let expected = (0..CELLS).filter(|x| x % 7 > 0).count();
    for order in [Order::RowMajor, Order::Global, Order::Unordered] {
        let read = |condition: Condition| array.read().select(["a"]).unwrap().order(order).filter(condition);
        // Cells of the oldest fragment are hidden, although only its own totals allow a match.
        assert_eq!(cells(read(field("a").lt(1_i64 << 32))), 0, "{order}");
        assert_eq!(read(field("a").lt(1_i64 << 32)).plan().unwrap().left_out.totals, 0);
        assert_eq!(cells(read(field("a").ge(99_i64 << 32))), expected, "{order}");
    }
    // With duplicates, no cell is hidden.
    let array = array_on(&written(false, true, 0), 2);
    let query = array.read().select(["a"]).unwrap().filter(field("a").lt(1_i64 << 32));
    assert_eq!(cells(query.clone()), expected);
    assert_eq!(query.plan().unwrap().left_out.totals as i64, FRAGMENTS - 1);
}

/// Adjacent fragments overlap by half. Among fragments without a match, only neighbors of a match
/// are read.
#[test]
fn fragments_that_overlap_in_part() {
    let storage = written(false, false, CELLS / 2);
    let array = array_on(&storage, 2);
    for number in [0, 50, 99_i64] {
        let condition = field("a").ge(number << 32) & field("a").lt((number + 1) << 32);
        let first = number * CELLS / 2;
        // The next fragment hides the second half.
        let end = if number + 1 == FRAGMENTS { first + CELLS } else { first + CELLS / 2 };
        let expected: Vec<i64> = (first..end).filter(|x| x % 7 > 0).collect();
        let query = array.read().select(["x"]).unwrap().order(Order::Global).filter(condition);
        assert_eq!(values::<i64>(query.clone(), "x"), expected, "{number}");
        let neighbours = if number == 50 { 2 } else { 1 };
        assert_eq!(query.plan().unwrap().left_out.totals as i64, FRAGMENTS - 1 - neighbours, "{number}");
    }
}

/// On storage with high latency, totals are requested together, unless they were read with the
/// footers. Consolidated footers have no totals.
#[test]
fn totals_are_fetched_together() {
    let storage = written(false, false, 0);
    let array = array_on(&storage, 1);
    let footer = |fragment: &Fragment| (fragment.name().to_string(), fragment.footer_bytes().unwrap().unwrap());
    let footers: Vec<(String, Vec<u8>)> = array.fragments().unwrap().iter().map(footer).collect();
    let footers: Vec<(&str, &[u8])> = footers.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let files = array.small_files();
    let (form, range) =
        (NameForm::Versioned(files.version().number()), TimeRange { start: 2, end: 1 + FRAGMENTS as u64 });
    let name = files.new_name(&names(2 + FRAGMENTS as u64), form, range).unwrap();
    let path = format!("{FRAGMENT_META_FOLDER}/{name}.{FOOTERS_EXTENSION}");
    storage.insert(&path, files.encode_footers(&footers).unwrap()).unwrap();

    let latent = LatentStorage::new(storage, Duration::from_millis(30), 1 << 40);
    check_trips("totals", [2], || {
        let array = ArrayOptions::new().threads(2).open_on(Arc::new(latent.clone())).unwrap();
        array.fragments().unwrap();
        latent.take_trips();
        latent.take_requests();
        let query = array.read().select(["b"]).unwrap().filter(field("a").gt(1_i64 << 50));
        assert_eq!(cells(query), 0);
        assert_eq!(latent.take_requests() as i64, FRAGMENTS);
        [latent.take_trips()]
    });
}
