//! Opening an array again: unchanged files are not read again, and every change is visible.

use std::sync::Arc;

use tdb_array::{Array, ArrayOptions, Exactness, TimeRange, WriteBatch, WriteIds};
use tdb_condition::field;
use tdb_filters::EncryptionKey;
use tdb_schema::{Attribute, Dimension, SchemaBuilder, SchemaEvolution};
use tdb_storage::{CountingStorage, Storage};
use tdb_testkit::{copy_files, fixtures};
use tdb_types::Datatype;

use crate::arrays::{self, open};

fn create() -> Arc<dyn Storage> {
    create_with(10_000)
}

fn create_with(capacity: u64) -> Arc<dyn Storage> {
    let x = Dimension::new("x", 0i32..=999).with_tile(10);
    let schema = SchemaBuilder::sparse().capacity(capacity).dimension(x);
    arrays::create(schema.attribute(Attribute::new("a", Datatype::Int64)).build().unwrap())
}

fn write(storage: &Arc<dyn Storage>, x: &[i32], a: &[i64]) {
    open(storage).write().cells(WriteBatch::new().with("x", x).with("a", a)).unwrap();
}

fn cells(array: &Array) -> Vec<(i32, i64)> {
    let mut all = Vec::new();
    for batch in array.read().select(["x", "a"]).unwrap().batches().unwrap() {
        let batch = batch.unwrap();
        let (x, a) = (batch.column("x").unwrap(), batch.column("a").unwrap());
        all.extend(x.values::<i32>().unwrap().iter().copied().zip(a.values::<i64>().unwrap().iter().copied()));
    }
    all.sort_unstable();
    all
}

/// An array that is refreshed, and opened anew for comparison. Earlier snapshots must not change.
struct Seen {
    storage: Arc<dyn Storage>,
    counting: CountingStorage,
    last: Array,
}

impl Seen {
    fn of(storage: &Arc<dyn Storage>) -> Self {
        let counting = CountingStorage::new(storage.clone());
        let last = open(&(Arc::new(counting.clone()) as Arc<dyn Storage>));
        cells(&last);
        counting.take();
        Self { storage: storage.clone(), counting, last }
    }

    /// Opens the array again. Returns the number of listings, and of files opened or read before
    /// the first cell.
    fn again(&mut self) -> (u64, u64) {
        let before = cells(&self.last);
        self.counting.take();
        let again = self.last.refreshed(None).unwrap();
        again.fragments().unwrap();
        let counters = self.counting.take();
        let anew = open(&self.storage);
        assert_eq!(cells(&again), cells(&anew));
        assert_eq!(again.directory(), anew.directory());
        assert_eq!(again.schema(), anew.schema());
        assert_eq!(statistics(&again), statistics(&anew));
        assert_eq!(cells(&self.last), before);
        self.last = again;
        (counters.lists, counters.reads)
    }
}

fn statistics(array: &Array) -> Vec<tdb_array::Statistics> {
    let schema = array.schema();
    array.read().statistics_of(schema.fields().filter_map(|field| schema.field_name(field))).unwrap()
}

#[test]
fn only_new_files_are_read() {
    let storage = create();
    let mut seen = Seen::of(&storage);
    assert_eq!(seen.again(), (3, 0));
    for start in [0, 100, 200] {
        write(&storage, &[start, start + 1], &[1, 2]);
    }
    // The folder of consolidated footers is listed only for more than one new fragment.
    assert_eq!(seen.again(), (4, 3));
    assert_eq!(seen.again(), (3, 0));
    write(&storage, &[1, 300], &[7, 8]);
    assert_eq!(seen.again(), (3, 1));
    // Both snapshots share cached metadata. The plan then reads nothing.
    let counting = seen.counting.clone();
    seen.last.read().plan().unwrap();
    counting.take();
    let again = seen.last.refreshed(None).unwrap();
    again.read().plan().unwrap();
    let counters = counting.take();
    assert_eq!((counters.lists, counters.reads), (3, 0));
}

#[test]
fn snapshots_do_not_change() {
    let storage = create();
    write(&storage, &[1, 2], &[1, 2]);
    // No metadata was loaded before others wrote.
    let first = open(&storage);
    write(&storage, &[2, 3], &[7, 8]);
    let second = first.refreshed(None).unwrap();
    write(&storage, &[3], &[9]);
    assert_eq!(cells(&second), [(1, 1), (2, 7), (3, 8)]);
    assert_eq!(cells(&first), [(1, 1), (2, 2)]);
    assert_eq!(cells(&second.refreshed(None).unwrap()), [(1, 1), (2, 7), (3, 9)]);
}

#[test]
fn deletes_and_schemas() {
    let storage = create();
    write(&storage, &[1, 2, 3], &[1, 2, 3]);
    let mut seen = Seen::of(&storage);
    open(&storage).delete_cells(&field("a").eq(2), &WriteIds::new()).unwrap();
    seen.again();
    assert_eq!(cells(&seen.last), [(1, 1), (3, 3)]);
    assert_eq!(seen.last.statistics("a").unwrap().cells.exact(), None);
    // The delete was read before and is not read again.
    let again = seen.last.refreshed(None).unwrap();
    seen.counting.take();
    again.statistics("a").unwrap();
    assert_eq!(seen.counting.take().reads, 0);
    open(&storage).delete_cells(&field("a").eq(3), &WriteIds::new()).unwrap();
    seen.again();
    assert_eq!(cells(&seen.last), [(1, 1)]);
    let added = Attribute::new("b", Datatype::Int32);
    open(&storage).evolve(&SchemaEvolution::new().add_attribute(added), &WriteIds::new()).unwrap();
    let (lists, reads) = seen.again();
    assert_eq!((lists, reads), (3, 1));
    assert!(seen.last.schema().field("b").is_some());
    let found = seen.last.read().statistics("b").unwrap();
    assert_eq!(found, open(&storage).read().statistics("b").unwrap());
}

#[test]
fn fragments_that_were_replaced_or_removed() {
    let storage = create();
    write(&storage, &[1, 2], &[1, 2]);
    write(&storage, &[11, 12], &[3, 4]);
    let mut seen = Seen::of(&storage);
    // As in a vacuum after consolidation: the fragment is deleted with its commit.
    let name = seen.last.fragments().unwrap()[0].name().as_str().to_owned();
    storage.remove_file(&format!("__commits/{name}.wrt")).unwrap();
    let again = seen.last.refreshed(None).unwrap();
    assert_eq!(cells(&again), [(11, 3), (12, 4)]);
    storage.remove_folder(&format!("__fragments/{name}")).unwrap();
    let again = seen.last.refreshed(None).unwrap();
    assert_eq!((cells(&again), again.read().cell_count().unwrap()), (vec![(11, 3), (12, 4)], Exactness::Exact(2)));
    // Replaces a fragment by a longer one of the same name.
    let other = create_with(10);
    let x: Vec<i32> = (0..500).collect();
    let a: Vec<i64> = x.iter().map(|x| i64::from(x * x)).collect();
    write(&other, &x, &a);
    let from = open(&other).fragments().unwrap()[0].folder().to_owned();
    let to = again.fragments().unwrap()[0].folder().to_owned();
    for file in storage.list(&to).unwrap() {
        storage.remove_file(&format!("{to}/{}", file.name)).unwrap();
    }
    let own_schema = again.schema_path().to_owned();
    let other_schema = open(&other).schema_path().to_owned();
    assert_ne!(own_schema, other_schema);
    storage.create_new(&other_schema, &other.read(&other_schema).unwrap()).unwrap();
    for file in other.list(&from).unwrap() {
        let bytes = other.read(&format!("{from}/{}", file.name)).unwrap();
        storage.create_new(&format!("{to}/{}", file.name), &bytes).unwrap();
    }
    seen.last = again.refreshed(None).unwrap();
    assert_eq!(cells(&seen.last).len(), 500);
    assert_eq!(seen.last.read().cell_count().unwrap(), Exactness::Exact(500));
    // The metadata of a committed fragment is missing. Opening again fails with the same error as
    // opening anew.
    storage.remove_file(&format!("{to}/__fragment_metadata.tdb")).unwrap();
    let anew =
        ArrayOptions::new().threads(1).open_on(storage.clone()).unwrap().fragments().map(<[_]>::len).unwrap_err();
    let again = seen.last.refreshed(None).unwrap().fragments().map(<[_]>::len).unwrap_err();
    assert_eq!(again.to_string(), anew.to_string());
}

#[test]
fn replaced_arrays_are_detected() {
    let storage = create();
    write(&storage, &[1, 2], &[1, 2]);
    let seen = Seen::of(&storage);
    for folder in ["__schema", "__commits", "__fragments"] {
        storage.remove_folder(folder).unwrap();
        storage.create_folder(folder).unwrap();
    }
    assert!(seen.last.refreshed(None).is_err());
    let other = create();
    write(&other, &[5], &[6]);
    copy_files(&*other, &*storage);
    assert_eq!(cells(&seen.last.refreshed(None).unwrap()), [(5, 6)]);
}

#[test]
fn other_times() {
    let storage = create();
    for (time, x) in [(10, 1), (20, 2), (30, 3)] {
        let (x, a) = ([x], [time as i64]);
        let cells = WriteBatch::new().with("x", &x).with("a", &a);
        open(&storage).write().ids(WriteIds::new().at(time)).cells(cells).unwrap();
    }
    let now = open(&storage);
    assert_eq!(cells(&now).len(), 3);
    let then = now.refreshed(Some(TimeRange::until(20))).unwrap();
    assert_eq!(cells(&then), [(1, 10), (2, 20)]);
    assert_eq!(then.time(), TimeRange::until(20));
    let between = then.refreshed(Some(TimeRange { start: 15, end: 30 })).unwrap();
    assert_eq!(cells(&between), [(2, 20), (3, 30)]);
    assert_eq!(cells(&between.refreshed(None).unwrap()).len(), 3);
}

/// Arrays of every kind: with consolidated commits, old layouts, encryption and enumerations.
#[test]
fn every_fixture() {
    for fixture in fixtures::all().into_iter().chain(fixtures::of_older_releases()) {
        let key = fixture.expected().key().map(EncryptionKey::new);
        let options = ArrayOptions::new().threads(1).key(key.clone());
        let counting = CountingStorage::new(fixture.array_storage());
        let array = options.open_on(Arc::new(counting.clone())).unwrap();
        assert!(array.is_opened_with(key.as_ref()) && !array.is_opened_with(Some(&EncryptionKey::new([3; 32]))));
        let all = |array: &Array| {
            let names: Vec<String> =
                array.schema().enumerations().iter().map(|reference| reference.name.clone()).collect();
            let enumerations: Vec<_> = names.iter().map(|name| array.enumeration(name).unwrap()).collect();
            let written = array.fragments().unwrap().iter().map(|fragment| fragment.folder().to_owned());
            // Compared as text, since NaN is unequal to NaN.
            format!("{:?}", (written.collect::<Vec<_>>(), statistics(array), enumerations))
        };
        let first = all(&array);
        counting.take();
        let again = array.refreshed(None).unwrap();
        assert_eq!(all(&again), first, "{}", fixture.name());
        assert_eq!(again.directory(), array.directory());
        let is_read = counting.take().reads;
        assert_eq!(is_read, u64::from(again.schema_path() == "__array_schema.tdb"), "{}", fixture.name());
        let early = TimeRange::until(1_000_000_000_000);
        let anew = options.clone().between(early).open_on(fixture.array_storage());
        match (array.refreshed(Some(early)), anew) {
            (Ok(again), Ok(anew)) => assert_eq!(all(&again), all(&anew), "{}", fixture.name()),
            (again, anew) => assert_eq!(again.is_err(), anew.is_err(), "{}", fixture.name()),
        }
    }
}
