//! Cost of reads on storage with high latency: the number of sequential round trips, not of
//! requests.

use std::sync::Arc;
use std::time::Duration;

use crate::arrays::{count, rows, with_key, write_line};
use crate::two_arrays::{array_on, create, names};
use tdb_array::{Array, ArrayOptions, Batch, Order, WriteBatch, WriteColumn};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_storage::{Counters, CountingStorage, MemoryStorage, Storage};
use tdb_testkit::hostile::seeded_mutations;
use tdb_testkit::{LatentStorage, fixtures};
use tdb_types::{Datatype, Layout};

/// Long enough that concurrent requests overlap even on a busy machine.
const LATENCY: Duration = Duration::from_millis(120);
const BYTES_PER_SECOND: u64 = 1 << 40;

/// Cells per fragment.
const CELLS: i64 = 1000;

fn line(sparse: bool, fragments: i64) -> ArraySchema {
    let x = Dimension::new("x", 0i64..=fragments * CELLS - 1).with_tile(50);
    let builder = if sparse { SchemaBuilder::sparse().capacity(50) } else { SchemaBuilder::dense() };
    builder
        .dimension(x)
        .attribute(Attribute::new("a", Datatype::Int64))
        .attribute(Attribute::new("b", Datatype::Int64))
        .build()
        .unwrap()
}

/// Writes disjoint fragments in sequence.
fn written(sparse: bool, fragments: i64) -> Arc<MemoryStorage> {
    let storage = create(&line(sparse, fragments));
    let array = array_on(&storage, 1);
    for fragment in 0..fragments {
        let x: Vec<i64> = (fragment * CELLS..(fragment + 1) * CELLS).collect();
        let cells = WriteBatch::new().with("a", &x).with("b", &x);
        write_line(&array, array.write().ids(names(2 + fragment.cast_unsigned())), &x, cells);
    }
    storage
}

fn latent(storage: Arc<MemoryStorage>) -> LatentStorage {
    LatentStorage::new(storage, LATENCY, BYTES_PER_SECOND)
}

fn open(storage: &LatentStorage) -> Array {
    ArrayOptions::new().threads(2).open_on(Arc::new(storage.clone())).unwrap()
}

fn read_point(array: &Array, x: i64) {
    let rows = rows(array.read().range("x", x..=x).unwrap());
    let value = Some(x.to_le_bytes().to_vec());
    assert!(rows.len() == 1 && rows[0].iter().all(|cell| *cell == value), "{rows:?}");
}

/// Measures round trips until each step has kept to its limit. A busy machine delays threads, and
/// thereby adds round trips, but never removes any.
pub(crate) fn check_trips<const N: usize>(case: &str, most: [u64; N], measure: impl Fn() -> [u64; N]) {
    let mut fewest = [u64::MAX; N];
    for _ in 0..10 {
        let trips = measure();
        assert!(trips.iter().all(|trips| *trips > 0), "{case}: {trips:?}");
        fewest = std::array::from_fn(|step| fewest[step].min(trips[step]));
        if fewest.iter().zip(most).all(|(trips, most)| *trips <= most) {
            return;
        }
    }
    panic!("{case}: {fewest:?} round trips, expected at most {most:?}");
}

#[test]
fn round_trips_do_not_depend_on_the_number_of_fragments() {
    for (sparse, fragments) in [(true, 1), (true, 40), (false, 1), (false, 40)] {
        let storage = latent(written(sparse, fragments));
        let case = format!("sparse: {sparse}, {fragments} fragments");
        // Opening, a first point, a second point, and all cells.
        check_trips(&case, [2, 3, 1, 2], || {
            storage.take_requests();
            let array = open(&storage);
            let opened = storage.take_trips();
            assert!(storage.take_requests() <= 5, "{case}: open");
            read_point(&array, 333);
            let first = storage.take_trips();
            read_point(&array, 777);
            let second = storage.take_trips();
            storage.take_requests();
            read_point(&array, 778);
            assert!(storage.take_requests() <= 3, "{case}: a file for each field");
            storage.take_trips();
            assert_eq!(count(array.read().order(Order::Global)) as i64, fragments * CELLS);
            [opened, first, second, storage.take_trips()]
        });
    }
}

/// Opening, writing and closing takes the same requests for many fragments as for few.
#[test]
fn small_writes_take_constant_requests() {
    let storage = create(&line(true, 1));
    let requests: Vec<Counters> = (0..50)
        .map(|x: i64| {
            let counting = CountingStorage::new(storage.clone());
            let array = ArrayOptions::new().threads(1).open_on(Arc::new(counting.clone())).unwrap();
            let x_only = [x];
            let column = || WriteColumn::values(&x_only);
            let cells = WriteBatch::new().with("x", column()).with("a", column()).with("b", column());
            array.write().ids(names(2 + x.cast_unsigned())).cells(cells).unwrap();
            counting.counters()
        })
        .collect();
    let first = requests[0];
    assert!(first.writes > 0, "{first}");
    let asked = |counters: &Counters| (counters.lists, counters.opens, counters.reads, counters.bytes, counters.writes);
    assert!(requests.iter().all(|counters| asked(counters) == asked(&first)), "{requests:?}");
    assert_eq!(array_on(&storage, 1).fragments().unwrap().len(), 50);
}

/// Reads beyond the prefetch limit proceed window by window. The next window is requested while the
/// last is read.
#[test]
fn large_reads_are_read_ahead() {
    let x = Dimension::new("x", 0i64..=(3 << 20) - 1);
    let schema = SchemaBuilder::dense().dimension(x.with_tile(1i64 << 14));
    let storage = create(&schema.attribute(Attribute::new("a", Datatype::Int64)).build().unwrap());
    let x: Vec<i64> = (0..3 << 20).collect();
    array_on(&storage, 1).write().cells(WriteBatch::new().with("a", &x)).unwrap();
    let storage = latent(storage);
    // 24 MiB, of which 8 may be in memory, in windows of 8/3 MiB: nine windows, after the metadata
    // sections.
    check_trips("all cells", [12], || {
        let array = open(&storage);
        array.fragments().unwrap();
        storage.take_trips();
        storage.take_requests();
        let mut cells = 0;
        for batch in array.read().budget(1 << 20).batches().unwrap() {
            let batch = batch.unwrap();
            let values = batch.column("a").unwrap().values::<i64>().unwrap().to_vec();
            assert!(values.iter().zip(cells..).all(|(value, expected)| *value == expected));
            cells += batch.len() as i64;
        }
        assert_eq!(cells, 3 << 20);
        assert!(storage.take_requests() <= 40);
        [storage.take_trips()]
    });
}

/// Values, offsets and validity of a column.
type Bytes = (Vec<u8>, Option<Vec<u64>>, Vec<bool>);

fn bytes(batch: &Batch) -> Vec<Bytes> {
    let column = |column: &tdb_array::Column| {
        let valid = (0..column.len()).map(|cell| column.is_valid(cell)).collect();
        (column.bytes().to_vec(), column.offsets().map(<[u64]>::to_vec), valid)
    };
    batch.columns().iter().map(column).collect()
}

/// Returns all cells of an array, or the error message.
fn all_cells(options: &ArrayOptions, storage: Arc<dyn Storage>) -> Result<Vec<Vec<Bytes>>, String> {
    let array = options.open_on(storage).map_err(|error| error.to_string())?;
    let order = if array.schema().cell_order() == Layout::Hilbert { Order::Global } else { Order::RowMajor };
    let batches = array.read().order(order).batches().map_err(|error| error.to_string())?;
    batches.map(|batch| batch.map(|batch| bytes(&batch)).map_err(|error| error.to_string())).collect()
}

fn at_once(storage: &Arc<dyn Storage>) -> Arc<dyn Storage> {
    Arc::new(LatentStorage::new(storage.clone(), Duration::ZERO, BYTES_PER_SECOND))
}

/// Damaged files cause errors, or the same cells as on local storage. Prefetched ranges and sizes
/// are not validated.
#[test]
fn damaged_arrays_are_errors() {
    let options = ArrayOptions::new().threads(2);
    let (mut read, mut refused) = (0, 0);
    for name in
        ["v22-by-2.30.0-sparse-2d", "v22-by-2.30.0-dense-2d-row-row", "v22-by-2.30.0-sparse-consolidated-footers"]
    {
        let fixture = fixtures::named(name);
        for path in fixture.array_files() {
            let sound = fixture.read(path);
            let damaged = fixture.array_storage();
            let count = if path.ends_with("__fragment_metadata.tdb") || path.ends_with(".meta") { 50 } else { 6 };
            seeded_mutations(7, &sound, count, |bytes| {
                damaged.insert(path, bytes).unwrap();
                let storage: Arc<dyn Storage> = damaged.clone();
                match (all_cells(&options, storage.clone()), all_cells(&options, at_once(&storage))) {
                    (Ok(expected), Ok(got)) => {
                        assert_eq!(expected, got, "{name}: {path}");
                        read += 1;
                    }
                    (Err(_), Err(_)) => refused += 1,
                    // On storage with latency, the size of an unread file is not checked.
                    (Err(error), Ok(_)) if error.contains(" bytes, expected ") && error.contains("metadata") => {
                        refused += 1;
                    }
                    (expected, got) => panic!("{name}: {path}: {:?} but {:?}", expected.map(drop), got.map(drop)),
                }
            });
        }
    }
    assert!(read > 20 && refused > 100, "{read} {refused}");
}

/// Arrays of every release read the same as on local storage.
#[test]
fn all_fixtures_read_the_same() {
    let mut compared = 0;
    for fixture in fixtures::all().into_iter().chain(fixtures::of_older_releases()) {
        let storage: Arc<dyn Storage> = fixture.array_storage();
        let options = with_key(ArrayOptions::new().threads(2), &fixture);
        let (expected, got) = (all_cells(&options, storage.clone()), all_cells(&options, at_once(&storage)));
        assert_eq!(expected, got, "{}", fixture.name());
        compared += usize::from(expected.is_ok());
    }
    assert!(compared > 400, "{compared}");
}
