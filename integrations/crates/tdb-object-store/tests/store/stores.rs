//! The stores that tests run on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use object_store::memory::InMemory;
use tdb_object_store::{ObjectStorage, StoreOptions, object_store, open_with};
use tdb_storage::Storage;

/// Returns the URLs of the servers.
pub(crate) fn servers() -> Vec<String> {
    std::env::var("TDB_STORES").unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

static NEXT: AtomicU64 = AtomicU64::new(0);

/// Runs a test in an empty folder on each store.
pub(crate) fn each(options: &StoreOptions, body: impl Fn(Arc<dyn Storage>)) {
    let memory = Arc::new(InMemory::new());
    body(Arc::new(ObjectStorage::with_options(memory, "memory://", "below/here", options.clone()).unwrap()));
    let servers = servers();
    if servers.is_empty() {
        // Shows in the output which stores a run covered.
        println!("only in memory: TDB_STORES is not set");
    }
    for url in servers {
        println!("on {url}");
        let nanoseconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
        // The query selects the server.
        let (place, settings) = url.split_at(url.find('?').unwrap_or(url.len()));
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let unique = format!("{}/test-{nanoseconds}-{number}{settings}", place.trim_end_matches('/'));
        let storage = open_with(&unique, options).unwrap();
        body(storage.clone());
        // Cleans up.
        for entry in storage.list("").unwrap_or_default() {
            match entry.kind {
                tdb_storage::EntryKind::File => storage.remove_file(&entry.name).unwrap(),
                // A server may still list an empty folder.
                tdb_storage::EntryKind::Folder => match storage.remove_folder(&entry.name) {
                    Err(error) if error.is_not_found() => {}
                    removed => removed.unwrap(),
                },
            }
        }
    }
}
