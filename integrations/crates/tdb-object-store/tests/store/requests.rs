//! Number of requests and round trips per operation.

use std::sync::Arc;

use tdb_array::{ArrayOptions, MetadataValue};
use tdb_maintain::Consolidate;
use tdb_object_store::{ObjectStorage, StoreOptions};
use tdb_storage::Storage;

use crate::arrays::{create, try_write_at};
use crate::counted::Counted;

/// Writes a fragment of a thousand cells next to each other.
fn write(storage: &Arc<dyn Storage>, fragment: u32) {
    try_write_at(storage, &(fragment * 1000..(fragment + 1) * 1000).collect::<Vec<_>>()).unwrap();
}

/// Checks the number of requests and of round trips of an operation.
fn most(store: &Counted, what: &str, requests: usize, round_trips: usize) {
    let seen = store.take();
    println!("{what}: {} requests, {} round trips", seen.requests.len(), seen.round_trips());
    assert!(seen.requests.len() <= requests, "{what}: {:#?}", seen.requests);
    // On a busy machine, one of several concurrent requests may start late.
    assert!(seen.round_trips() <= round_trips + 2, "{what}: {}: {:#?}", seen.round_trips(), seen.requests);
}

/// Opens the store without any cached state.
fn afresh(store: &Arc<Counted>) -> Arc<dyn Storage> {
    // Honors conditions, like the stores of Amazon and Google. Elsewhere a trial costs a request.
    let mut options = StoreOptions::default();
    options.try_conditions = false;
    Arc::new(ObjectStorage::with_options(store.clone(), "memory://", "a", options).unwrap())
}

/// Opens the store without knowledge about its write conditions.
fn unknown(store: &Arc<Counted>) -> Arc<dyn Storage> {
    Arc::new(ObjectStorage::new(store.clone(), "memory://", "a").unwrap())
}

/// Creates an array with ten fragments. Checks the cost of writing the last one.
fn ten_fragments() -> Arc<Counted> {
    let store = Arc::new(Counted::default());
    let storage = afresh(&store);
    create(&storage);
    for fragment in 0..9 {
        write(&storage, fragment);
    }
    store.take();
    write(&afresh(&store), 9);
    most(&store, "a small fragment, opening included", 10, 4);
    store
}

#[test]
fn arrays_cost_few_requests() {
    // The reference library needs 24 requests for a small fragment, 36 to open ten, then 5 for a
    // point, and 45 for all cells.
    let store = ten_fragments();
    let array = ArrayOptions::new().open_on(afresh(&store)).unwrap();
    most(&store, "open", 4, 2);
    array.fragments().unwrap();
    most(&store, "footers", 10, 1);
    let array = ArrayOptions::new().with_footers().open_on(afresh(&store)).unwrap();
    array.fragments().unwrap();
    most(&store, "open with footers", 15, 2);
    let point = array.read().range("position", 5..=5).unwrap();
    assert_eq!(point.batches().unwrap().map(|batch| batch.unwrap().len()).sum::<usize>(), 1);
    most(&store, "a point", 4, 1);
    assert_eq!(array.read().batches().unwrap().map(|batch| batch.unwrap().len()).sum::<usize>(), 10_000);
    most(&store, "all cells", 40, 1);
}

/// The trial of conditions runs concurrently with the files of the fragment.
#[test]
fn first_write_costs_one_more_request() {
    let store = ten_fragments();
    let storage = unknown(&store);
    write(&storage, 10);
    // Listings, the schema, four data files, the metadata, the trial, the commit.
    most(&store, "a first write to an unknown store", 11, 4);
    write(&storage, 11);
    most(&store, "a second one", 9, 4);
    // A single file is its own trial.
    let storage = unknown(&store);
    let array = ArrayOptions::new().open_on(storage).unwrap();
    array.write_metadata().put("key", MetadataValue::text("value").unwrap()).commit().unwrap();
    most(&store, "metadata, as the first write", 7, 5);
}

#[test]
fn consolidated_footers_cost_one_request() {
    let store = ten_fragments();
    let array = ArrayOptions::new().open_on(afresh(&store)).unwrap();
    Consolidate::footers().plan(&array).unwrap().run().unwrap();
    store.take();
    let array = ArrayOptions::new().with_footers().open_on(afresh(&store)).unwrap();
    assert_eq!(array.fragments().unwrap().len(), 10);
    most(&store, "open with consolidated footers", 6, 2);
    let array = ArrayOptions::new().open_on(afresh(&store)).unwrap();
    assert_eq!(array.fragments().unwrap().len(), 10);
    most(&store, "open, and then consolidated footers", 6, 3);
}

#[test]
fn immutable_files_are_requested_once() {
    let store = ten_fragments();
    let storage = afresh(&store);
    let open = || {
        let array = ArrayOptions::new().with_footers().open_on(storage.clone()).unwrap();
        assert_eq!(array.fragments().unwrap().len(), 10);
        array.counters()
    };
    open();
    most(&store, "open", 15, 2);
    // Fragments are listed each time, but fragment metadata are cached.
    let counters = open();
    most(&store, "open again", 4, 1);
    assert_eq!((counters.lists, counters.reads, counters.kept), (4, 0, 11));
    write(&storage, 10);
    store.take();
    let array = ArrayOptions::new().with_footers().open_on(storage.clone()).unwrap();
    assert_eq!(array.fragments().unwrap().len(), 11);
    most(&store, "open with one more fragment", 5, 2);
}
