//! Locations of arrays: temporary folders, or a store.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use tdb_array::tdb_storage::{Storage, StorageError};

/// Opens the storage of a URI.
pub type OpenStorage = Box<dyn Fn(&str) -> Result<Arc<dyn Storage>, StorageError> + Send + Sync>;

/// A store that both sides can access.
pub struct Store {
    /// URI of the folder for arrays.
    pub uri: String,
    /// Opens the store for tdb.
    pub open: OpenStorage,
    /// The library's settings for the store.
    pub settings: Vec<(&'static str, String)>,
}

/// The store of this run, if any.
static STORE: OnceLock<Store> = OnceLock::new();
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Creates all further arrays on a store. Only the first call has an effect.
pub fn use_store(store: Store) {
    let _ = STORE.set(store);
}

/// `true` if arrays are created on a store, where files cannot be inspected.
pub fn is_on_store() -> bool {
    STORE.get().is_some()
}

/// Returns the library's settings for the store.
pub fn settings() -> &'static [(&'static str, String)] {
    STORE.get().map(|store| store.settings.as_slice()).unwrap_or_default()
}

/// Returns the storage of an array, or `None` for a local folder.
pub fn storage(uri: &str) -> Result<Option<Arc<dyn Storage>>, StorageError> {
    STORE.get().map(|store| (store.open)(uri)).transpose()
}

/// The folder of a case. On a store, it is deleted on drop.
pub struct Place {
    folder: PathBuf,
    /// URI of the folder if it is on a store.
    on_store: Option<String>,
}

impl Place {
    /// Chooses a folder on the store, or the local folder of a case.
    pub fn new(folder: &Path) -> Self {
        let on_store = STORE.get().map(|store| format!("{}/{}", store.uri, unique()));
        Self { folder: folder.to_owned(), on_store }
    }

    /// Returns the URI of an array in the folder.
    pub fn uri(&self, name: &str) -> String {
        match &self.on_store {
            Some(uri) => format!("{uri}/{name}"),
            None => self.folder.join(name).to_string_lossy().into_owned(),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(uri) = &self.on_store else { return };
        // Deletes the case's files to limit the size of the store. Ignores errors, because a case
        // may end before it has created files.
        if let Ok(Some(storage)) = storage(uri) {
            for entry in storage.list("").unwrap_or_default() {
                let _ = storage.remove_folder(&entry.name);
            }
        }
    }
}

/// Returns a name that is unique among all cases of all runs.
fn unique() -> String {
    let nanoseconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("case-{nanoseconds:x}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
