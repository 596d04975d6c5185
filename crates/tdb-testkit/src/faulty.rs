//! A storage that fails at a chosen operation.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tdb_storage::{Entry, EntryKind, ReadAt, Result, Storage, StorageError, WriteFile, forward_storage};

use crate::stored::joined;

/// A kind of failure of a [`FaultyStorage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// One operation fails, as on a full disk. All other operations succeed. A failing append
    /// writes half of its bytes.
    Fails,
    /// The machine stops: this operation and all later operations fail, without any cleanup. All
    /// written bytes stay, durable or not, including half of the bytes of this operation.
    Stops,
    /// The machine loses power: like [`Stops`](Self::Stops), but bytes that were not durable are
    /// lost.
    LosesPower,
}

/// A storage wrapper that fails the `n`-th modifying operation, counted from 0. Modifying
/// operations create a file or folder, append, finish, sync a folder, rename, or remove.
///
/// The wrapped storage holds the state after the failure. Read it to see the view of a later
/// reader. Clones and [`sub`](Storage::sub) storages share the count.
///
/// ```
/// use std::sync::Arc;
/// use tdb_storage::{MemoryStorage, Storage};
/// use tdb_testkit::{Fault, FaultyStorage};
///
/// let disk = Arc::new(MemoryStorage::new());
/// let storage = FaultyStorage::new(disk.clone(), Fault::Stops, 1);
/// storage.create_folder("a").unwrap();
/// assert!(storage.create_new("a/f", b"0123").is_err());
/// assert!(storage.list("a").is_err());
/// assert!(!disk.exists("a/f").unwrap());
/// ```
#[derive(Clone, Debug)]
pub struct FaultyStorage {
    inner: Arc<dyn Storage>,
    /// The path of the root of this storage within the wrapped storage.
    root: String,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// The wrapped storage.
    whole: Arc<dyn Storage>,
    fault: Fault,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Modifying operations before the failing operation, or `None` without a failure.
    left: Option<u64>,
    /// Number of modifying operations so far.
    count: u64,
    dead: bool,
    /// Files that a loss of power would delete: unfinished files, and files whose names are not
    /// durable.
    volatile: BTreeSet<String>,
}

impl FaultyStorage {
    /// Creates a storage that fails the `n`-th modifying operation, counted from 0.
    #[must_use]
    pub fn new(inner: Arc<dyn Storage>, fault: Fault, n: u64) -> Self {
        Self::wrap(inner, fault, Some(n))
    }

    /// Creates a storage without failures. A test counts the modifying operations with this
    /// storage, then fails each of them.
    #[must_use]
    pub fn sound(inner: Arc<dyn Storage>) -> Self {
        Self::wrap(inner, Fault::Fails, None)
    }

    fn wrap(inner: Arc<dyn Storage>, fault: Fault, left: Option<u64>) -> Self {
        let state = Mutex::new(State { left, count: 0, dead: false, volatile: BTreeSet::new() });
        let shared = Arc::new(Shared { whole: Arc::clone(&inner), fault, state });
        Self { inner, root: String::new(), shared }
    }

    /// Returns the number of modifying operations, including the failed operation.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.shared.state().count
    }

    /// Returns the path within the wrapped storage.
    fn whole(&self, path: &str) -> String {
        joined(&self.root, path)
    }

    fn alive(&self, path: &str) -> Result<()> {
        if self.shared.state().dead { Err(broken(self.describe(path))) } else { Ok(()) }
    }

    /// Counts an operation that modifies `path`. If the operation must fail, runs `half`, and
    /// returns the error.
    fn attempt(&self, path: &str, half: impl FnOnce()) -> Result<()> {
        match self.shared.next() {
            Next::Works => return Ok(()),
            Next::Breaks => {
                half();
                self.shared.die();
            }
            Next::IsDead => {}
        }
        Err(broken(self.describe(path)))
    }

    /// Runs `whole`, which modifies `path`. Runs `half` instead if the operation must fail.
    fn change<T>(&self, path: &str, half: impl FnOnce(), whole: impl FnOnce() -> Result<T>) -> Result<T> {
        self.attempt(path, half)?;
        whole()
    }
}

/// The outcome of a modifying operation.
enum Next {
    Works,
    Breaks,
    IsDead,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Next {
        let mut state = self.state();
        if state.dead {
            return Next::IsDead;
        }
        state.count += 1;
        match state.left {
            Some(0) => {
                state.left = None;
                state.dead = self.fault != Fault::Fails;
                Next::Breaks
            }
            left => {
                state.left = left.map(|left| left - 1);
                Next::Works
            }
        }
    }

    /// Applies a loss of power after the failed operation.
    fn die(&self) {
        if self.fault == Fault::LosesPower {
            for path in std::mem::take(&mut self.state().volatile) {
                // The file may already be removed.
                let _ = self.whole.remove_file(&path);
            }
        }
    }
}

fn broken(path: String) -> StorageError {
    StorageError::Io { path, source: Arc::new(io::Error::new(io::ErrorKind::StorageFull, "no space left (injected)")) }
}

fn first_half(bytes: &[u8]) -> &[u8] {
    bytes.get(..bytes.len() / 2).unwrap_or_default()
}

impl Storage for FaultyStorage {
    forward_storage!(|this| this.inner => describe, uri);
    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        self.alive(folder)?;
        self.inner.list(folder)
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        self.alive(path)?;
        self.inner.open(path)
    }

    fn kind(&self, path: &str) -> Result<Option<EntryKind>> {
        self.alive(path)?;
        self.inner.kind(path)
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        let (inner, root) = (self.inner.sub(folder)?, self.whole(folder));
        Ok(Arc::new(Self { inner, root, shared: Arc::clone(&self.shared) }))
    }

    fn create_folder(&self, folder: &str) -> Result<()> {
        self.change(folder, || (), || self.inner.create_folder(folder))
    }

    fn create_new(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let half = || {
            // `create_new` is atomic by contract. A local disk keeps half of a temporary file.
            if self.shared.fault == Fault::Stops && !first_half(bytes).is_empty() {
                let _ = self.inner.create_new(".tdb-half-0.tmp", first_half(bytes));
            }
        };
        self.change(path, half, || self.inner.create_new(path, bytes))
    }

    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        let inner = self.change(path, || (), || self.inner.create_file(path))?;
        self.shared.state().volatile.insert(self.whole(path));
        Ok(Box::new(FaultyWriter { inner: Some(inner), storage: self.clone(), path: path.to_owned() }))
    }

    fn sync_folder(&self, folder: &str) -> Result<()> {
        self.change(folder, || (), || self.inner.sync_folder(folder))?;
        let whole = self.whole(folder);
        let parent = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
        // Releases unfinished files too. A loss would leave an empty or truncated file, which is
        // equivalent here.
        self.shared.state().volatile.retain(|path| parent(path) != whole);
        Ok(())
    }

    fn remove_file(&self, path: &str) -> Result<()> {
        self.change(path, || (), || self.inner.remove_file(path))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.change(from, || (), || self.inner.rename(from, to))
    }

    fn remove_folder(&self, folder: &str) -> Result<()> {
        let half = || {
            // Files are removed individually, and a stopped machine leaves some of them.
            if self.shared.fault != Fault::Fails
                && let Ok(entries) = self.inner.list(folder)
            {
                let files = entries.iter().filter(|entry| entry.kind == EntryKind::File);
                for entry in files.take(entries.len() / 2) {
                    let _ = self.inner.remove_file(&format!("{folder}/{}", entry.name));
                }
            }
        };
        self.change(folder, half, || self.inner.remove_folder(folder))
    }
}

#[derive(Debug)]
struct FaultyWriter {
    /// `None` once the file is finished.
    inner: Option<Box<dyn WriteFile>>,
    storage: FaultyStorage,
    path: String,
}

impl WriteFile for FaultyWriter {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let Self { inner, storage, path } = self;
        let Some(inner) = inner else { return Ok(()) };
        storage.attempt(path, || drop(inner.append(first_half(bytes))))?;
        inner.append(bytes)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.storage.attempt(&self.path, || ())?;
        self.inner.take().map_or(Ok(()), WriteFile::finish)
    }
}

impl Drop for FaultyWriter {
    fn drop(&mut self) {
        let Some(inner) = self.inner.take() else { return };
        let (dead, fault) = (self.storage.shared.state().dead, self.storage.shared.fault);
        match fault {
            // A stopped machine does not clean up, so the written bytes stay.
            Fault::Stops if dead => {
                let _ = inner.finish();
            }
            _ => drop(inner),
        }
    }
}
