//! Where the arrays of cases lie: in folders that go with them, or on a store that a program has named.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use tdb_array::tdb_storage::{Storage, StorageError};
use tempfile::TempDir;

/// Gives the storage that a URI names.
pub type OpenStorage = Box<dyn Fn(&str) -> Result<Arc<dyn Storage>, StorageError> + Send + Sync>;

/// A store that both sides reach.
pub struct Store {
    /// The folder on it that arrays are made in.
    pub uri: String,
    /// How our side gets there.
    pub open: OpenStorage,
    /// How the library gets there: its settings.
    pub settings: Vec<(&'static str, String)>,
}

/// The store of this run, if there is one.
static STORE: OnceLock<Store> = OnceLock::new();
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Has all arrays be made on a store from now on; the first one that is named counts.
pub fn use_store(store: Store) {
    let _ = STORE.set(store);
}

/// Whether arrays lie on a store, where nobody looks at files.
pub fn is_on_store() -> bool {
    STORE.get().is_some()
}

/// The library's settings for the store.
pub fn settings() -> &'static [(&'static str, String)] {
    STORE.get().map(|store| store.settings.as_slice()).unwrap_or_default()
}

/// The storage of an array, if it isn't a local folder.
pub fn storage(uri: &str) -> Result<Option<Arc<dyn Storage>>, StorageError> {
    STORE.get().map(|store| (store.open)(uri)).transpose()
}

/// A folder for a case, which goes with it.
pub struct Place {
    folder: TempDir,
    /// Where it is, if that is on a store.
    on_store: Option<String>,
}

impl Place {
    /// A new one: on the store, or else below a local folder.
    ///
    /// # Errors
    /// If no local folder can be made.
    pub fn new(below: &Path) -> std::io::Result<Self> {
        let folder = tempfile::tempdir_in(below)?;
        let on_store = STORE.get().map(|store| format!("{}/{}", store.uri, unique()));
        Ok(Self { folder, on_store })
    }

    /// The URI of an array in it.
    pub fn uri(&self, name: &str) -> String {
        match &self.on_store {
            Some(uri) => format!("{uri}/{name}"),
            None => self.folder.path().join(name).to_string_lossy().into_owned(),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(uri) = &self.on_store else { return };
        // A store may be filled by what is left. Nothing there is no failure: a case may end before it has made anything.
        if let Ok(Some(storage)) = storage(uri) {
            for entry in storage.list("").unwrap_or_default() {
                let _ = storage.remove_folder(&entry.name);
            }
        }
    }
}

/// A name that no other case has, of this run or of another one.
fn unique() -> String {
    let nanoseconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("case-{nanoseconds:x}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
