//! A storage wrapper that simulates changes by another process before chosen operations.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

use tdb_storage::{Entry, EntryKind, ReadAt, ReadProfile, Result, Storage, forward_storage};

/// A storage wrapper that runs an action right before reading operations: list, open, read and
/// `kind`. Operations are counted from 0. Each read reopens the file, so a removed file becomes
/// unreadable.
///
/// The action receives the wrapped storage. Clones and [`sub`](Storage::sub) storages share the
/// count.
///
/// ```
/// use std::sync::Arc;
/// use tdb_storage::{MemoryStorage, Storage};
/// use tdb_testkit::MeanwhileStorage;
///
/// let disk = Arc::new(MemoryStorage::new());
/// disk.create_new("f", b"bytes").unwrap();
/// let storage = MeanwhileStorage::new(disk, |n, disk| {
///     if n == 1 {
///         disk.remove_file("f").unwrap();
///     }
/// });
/// let file = storage.open("f").unwrap();
/// assert!(file.read_into(0, &mut [0; 5]).unwrap_err().is_not_found());
/// ```
#[derive(Clone, Debug)]
pub struct MeanwhileStorage {
    inner: Arc<dyn Storage>,
    shared: Arc<Shared>,
}

type Action = dyn FnMut(u64, &Arc<dyn Storage>) + Send;

struct Shared {
    whole: Arc<dyn Storage>,
    count: AtomicU64,
    action: Mutex<Box<Action>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("count", &self.count).finish_non_exhaustive()
    }
}

impl MeanwhileStorage {
    /// Creates a storage that runs the action before each operation, with the number of the
    /// operation.
    #[must_use]
    pub fn new(inner: Arc<dyn Storage>, action: impl FnMut(u64, &Arc<dyn Storage>) + Send + 'static) -> Self {
        let whole = Arc::clone(&inner);
        let shared = Arc::new(Shared { whole, count: AtomicU64::new(0), action: Mutex::new(Box::new(action)) });
        Self { inner, shared }
    }

    /// Creates a storage that runs the action before the `n`-th operation.
    #[must_use]
    pub fn at(inner: Arc<dyn Storage>, n: u64, action: impl FnOnce(&Arc<dyn Storage>) + Send + 'static) -> Self {
        let mut action = Some(action);
        Self::new(inner, move |number, storage| {
            if let Some(action) = action.take_if(|_| number == n) {
                action(storage);
            }
        })
    }

    /// Returns the number of operations so far.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.shared.count.load(SeqCst)
    }

    fn file(&self, path: &str, file: Arc<dyn ReadAt>) -> Arc<dyn ReadAt> {
        Arc::new(MeanwhileFile { storage: self.clone(), path: path.to_owned(), file })
    }
}

impl Shared {
    fn tick(&self) {
        let number = self.count.fetch_add(1, SeqCst);
        let mut action = self.action.lock().unwrap_or_else(PoisonError::into_inner);
        action(number, &self.whole);
    }
}

impl Storage for MeanwhileStorage {
    forward_storage!(|this| this.inner => profile, describe, uri, create_folder, create_new, create_file);
    forward_storage!(|this| this.inner => sync_folder, remove_file, remove_folder, rename);

    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        self.shared.tick();
        self.inner.list(folder)
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        self.shared.tick();
        Ok(self.file(path, self.inner.open(path)?))
    }

    fn open_sized(&self, path: &str, size: u64) -> Result<Arc<dyn ReadAt>> {
        self.shared.tick();
        Ok(self.file(path, self.inner.open_sized(path, size)?))
    }

    fn kind(&self, path: &str) -> Result<Option<EntryKind>> {
        self.shared.tick();
        self.inner.kind(path)
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        Ok(Arc::new(Self { inner: self.inner.sub(folder)?, shared: Arc::clone(&self.shared) }))
    }
}

#[derive(Debug)]
struct MeanwhileFile {
    storage: MeanwhileStorage,
    path: String,
    file: Arc<dyn ReadAt>,
}

impl ReadAt for MeanwhileFile {
    fn size(&self) -> u64 {
        self.file.size()
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.storage.shared.tick();
        self.storage.inner.open(&self.path)?.read_into(offset, buffer)
    }

    fn profile(&self) -> ReadProfile {
        self.file.profile()
    }
}
