//! Reads an array through a custom storage, which records the opened files.
//!
//! ```sh
//! cargo run -p tdb-library --example custom_storage -- fixtures/v22-by-2.30.0-sparse-2d/array
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use tdb::ArrayOptions;
use tdb::storage::{LocalStorage, ReadAt, Result, Storage, forward_storage};
use tdb::types::names::file_name;

/// A storage that records the paths of opened files, and forwards all requests.
#[derive(Debug)]
struct Recorder {
    inner: Arc<dyn Storage>,
    opened: Arc<Mutex<BTreeSet<String>>>,
}

impl Storage for Recorder {
    // The default implementations of all other reads call `open`.
    forward_storage!(|this| this.inner => list, profile, kind, file_size, describe, uri, create_folder, create_new,
        create_file, sync_folder, remove_file, remove_folder, rename);

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
        self.inner.open(path)
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        Ok(Arc::new(Self { inner: self.inner.sub(folder)?, opened: Arc::clone(&self.opened) }))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: custom_storage ARRAY")?;
    let opened = Arc::new(Mutex::new(BTreeSet::new()));
    let storage = Recorder { inner: Arc::new(LocalStorage::new(path)), opened: Arc::clone(&opened) };
    let array = ArrayOptions::new().open_on(Arc::new(storage))?;

    let mut cells = 0;
    for batch in array.read().select(["a"])?.range("y", -10..=-7)?.batches()? {
        cells += batch?.len();
    }
    println!("{cells} cells");

    // The query opens the data files of `a` and of the dimensions, and no other data files.
    let opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
    let mut counts = BTreeMap::new();
    opened.iter().for_each(|path| *counts.entry(file_name(path)).or_insert(0) += 1);
    counts.iter().for_each(|(name, count)| println!("{count} x {name}"));
    Ok(())
}
