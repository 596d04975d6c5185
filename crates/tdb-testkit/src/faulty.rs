//! A storage that breaks at a chosen moment.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tdb_storage::{Entry, EntryKind, ReadAt, Result, Storage, StorageError, WriteFile, forward_storage};

/// How a [`FaultyStorage`] breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// One operation fails, as on a full disk; before and after it all works. Half of what it appends arrives.
    Fails,
    /// The machine stops: this operation and all that follow fail, and nothing is cleaned up. What was written, half of
    /// what this operation appends included, stays, durable or not.
    Stops,
    /// The machine loses its power: the same, but whatever wasn't durable is gone.
    LosesPower,
}

/// Wraps a storage and lets the `n`-th operation that changes something break, counted from 0: making a file or folder,
/// appending, finishing, making names durable, removing.
///
/// The storage below is what is left after the accident: read that to see what a reader would see. Clones and
/// [`sub`](Storage::sub) storages count together.
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
    /// The path of this storage's root below the one that was wrapped.
    root: String,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// The storage that was wrapped.
    whole: Arc<dyn Storage>,
    fault: Fault,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Changing operations until the one that breaks; none if none does.
    left: Option<u64>,
    /// How many there have been.
    count: u64,
    dead: bool,
    /// Files that a loss of power would take: being written, or with a name that isn't durable.
    volatile: BTreeSet<String>,
}

impl FaultyStorage {
    /// Breaks at the `n`-th changing operation, counted from 0.
    #[must_use]
    pub fn new(inner: Arc<dyn Storage>, fault: Fault, n: u64) -> Self {
        Self::wrap(inner, fault, Some(n))
    }

    /// Never breaks, but counts: to know how many operations there are to break.
    #[must_use]
    pub fn sound(inner: Arc<dyn Storage>) -> Self {
        Self::wrap(inner, Fault::Fails, None)
    }

    fn wrap(inner: Arc<dyn Storage>, fault: Fault, left: Option<u64>) -> Self {
        let state = Mutex::new(State { left, count: 0, dead: false, volatile: BTreeSet::new() });
        let shared = Arc::new(Shared { whole: Arc::clone(&inner), fault, state });
        Self { inner, root: String::new(), shared }
    }

    /// How many changing operations there have been, the broken one included.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.shared.state().count
    }

    /// The path below the storage that was wrapped.
    fn whole(&self, path: &str) -> String {
        match (self.root.as_str(), path) {
            ("", only) | (only, "") => only.to_owned(),
            (root, path) => format!("{root}/{path}"),
        }
    }

    fn alive(&self, path: &str) -> Result<()> {
        if self.shared.state().dead { Err(broken(self.describe(path))) } else { Ok(()) }
    }

    /// Does something that changes `path`; if it is to break, `half` is done instead.
    fn change<T>(&self, path: &str, half: impl FnOnce(), whole: impl FnOnce() -> Result<T>) -> Result<T> {
        match self.shared.next() {
            Next::Works => whole(),
            Next::Breaks => {
                half();
                self.shared.die();
                Err(broken(self.describe(path)))
            }
            Next::IsDead => Err(broken(self.describe(path))),
        }
    }
}

/// What comes of a changing operation.
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

    /// After the operation that broke: takes what a loss of power takes.
    fn die(&self) {
        if self.fault == Fault::LosesPower {
            for path in std::mem::take(&mut self.state().volatile) {
                // It may have been removed since.
                let _ = self.whole.remove_file(&path);
            }
        }
    }
}

fn broken(path: String) -> StorageError {
    StorageError::Io { path, source: Arc::new(io::Error::new(io::ErrorKind::StorageFull, "no space left (a test's)")) }
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
            // By contract the file is whole or not there; a local disk is left with half of a temporary one.
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
        // A file that is still being written has lost nothing but its bytes: an empty or cut one is as good as none here.
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
            // Files go one by one, so that a machine that stops leaves some.
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
    /// Absent once it is finished.
    inner: Option<Box<dyn WriteFile>>,
    storage: FaultyStorage,
    path: String,
}

impl WriteFile for FaultyWriter {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let Self { inner, storage, path } = self;
        let Some(inner) = inner else { return Ok(()) };
        match storage.shared.next() {
            Next::Works => inner.append(bytes),
            Next::Breaks => {
                let _ = inner.append(first_half(bytes));
                storage.shared.die();
                Err(broken(storage.describe(path)))
            }
            Next::IsDead => Err(broken(storage.describe(path))),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        match self.storage.shared.next() {
            Next::Works => self.inner.take().map_or(Ok(()), WriteFile::finish),
            Next::Breaks => {
                self.storage.shared.die();
                Err(broken(self.storage.describe(&self.path)))
            }
            Next::IsDead => Err(broken(self.storage.describe(&self.path))),
        }
    }
}

impl Drop for FaultyWriter {
    fn drop(&mut self) {
        let Some(inner) = self.inner.take() else { return };
        let (dead, fault) = (self.storage.shared.state().dead, self.storage.shared.fault);
        match fault {
            // Nobody is left to clean up: what arrived stays.
            Fault::Stops if dead => {
                let _ = inner.finish();
            }
            _ => drop(inner),
        }
    }
}
