//! A storage wrapper that counts requests.

mod waiting;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use waiting::Waiting;

use crate::{
    CancelToken, Entry, EntryKind, Fetched, Part, ReadAt, ReadProfile, Request, Result, Storage, WriteFile, at_once,
    forward_storage,
};

/// A wrapper that counts the requests to a storage. Clones and [`sub`](Storage::sub) storages share
/// the counts.
///
/// ```
/// use std::sync::Arc;
/// use tdb_storage::{Counters, CountingStorage, MemoryStorage, Storage};
///
/// let memory = MemoryStorage::new();
/// memory.create_new("a", b"bytes")?;
/// let storage = CountingStorage::new(Arc::new(memory));
/// storage.read("a")?;
/// assert_eq!(storage.counters().to_string(), "0 lists, 1 opens, 1 reads, 5 bytes");
/// # Ok::<(), tdb_storage::StorageError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CountingStorage {
    inner: Arc<dyn Storage>,
    counts: Arc<Counts>,
}

/// The counts of a [`CountingStorage`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Folders listed.
    pub lists: u64,
    /// Files opened, and checks of the kind or size of a path.
    pub opens: u64,
    /// Reads, each of a single range.
    pub reads: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Calls that create, delete or rename a file or folder, append to a file, finish a file, or
    /// sync a folder.
    pub writes: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Requests to a [remote](ReadProfile::is_remote) storage: lists, opens, checks, reads, and
    /// files created or deleted. Opens of files of known size, changes of folders, renames, and
    /// parts of large files are not counted.
    pub requests: u64,
    /// Reads answered from the storage's [cache](Fetched::is_cached). No other counter includes
    /// these reads.
    pub kept: u64,
    /// Time during which at least one request to a remote storage was pending. Always zero on
    /// WebAssembly.
    pub waiting: Duration,
}

#[derive(Debug, Default)]
struct Counts {
    lists: AtomicU64,
    opens: AtomicU64,
    reads: AtomicU64,
    bytes: AtomicU64,
    writes: AtomicU64,
    bytes_written: AtomicU64,
    requests: AtomicU64,
    kept: AtomicU64,
    waiting: Waiting,
}

impl CountingStorage {
    /// Wraps a storage, with all counts at zero.
    #[must_use]
    pub fn new(inner: Arc<dyn Storage>) -> Self {
        Self { inner, counts: Arc::default() }
    }

    /// Wraps `other`, and counts its requests together with the requests of this storage.
    #[must_use]
    pub fn alongside(&self, other: Arc<dyn Storage>) -> Self {
        Self { inner: other, counts: Arc::clone(&self.counts) }
    }

    /// Returns the counts so far. Failed requests are included, but only received bytes are
    /// counted.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.collected(|count| count.load(Relaxed), self.counts.waiting.so_far())
    }

    /// Returns the counts so far and resets all counters to zero.
    pub fn take(&self) -> Counters {
        self.collected(|count| count.swap(0, Relaxed), self.counts.waiting.take())
    }

    fn collected(&self, of: impl Fn(&AtomicU64) -> u64, waiting: Duration) -> Counters {
        Counters {
            lists: of(&self.counts.lists),
            opens: of(&self.counts.opens),
            reads: of(&self.counts.reads),
            bytes: of(&self.counts.bytes),
            writes: of(&self.counts.writes),
            bytes_written: of(&self.counts.bytes_written),
            requests: of(&self.counts.requests),
            kept: of(&self.counts.kept),
            waiting,
        }
    }

    /// Counts an answered request as an open and a read. A range of a file of known size needs no
    /// open.
    fn counted(&self, request: &Request, answer: Result<Fetched>) -> Result<Fetched> {
        if answer.as_ref().is_ok_and(|fetched| fetched.is_cached) {
            self.counts.kept.fetch_add(1, Relaxed);
        } else {
            let opens = !matches!(request.part, Part::Range { .. });
            self.counts.opens.fetch_add(u64::from(opens), Relaxed);
            self.counts.reads.fetch_add(1, Relaxed);
            self.counts.requests.fetch_add(u64::from(self.inner.profile().is_remote()), Relaxed);
        }
        let fetched = answer?;
        let bytes = if fetched.is_cached { 0 } else { fetched.bytes.len() as u64 };
        self.counts.bytes.fetch_add(bytes, Relaxed);
        let file = Arc::new(CountingFile { inner: fetched.file, counts: Arc::clone(&self.counts) });
        Ok(Fetched { file, ..fetched })
    }

    /// Runs a job and measures the waiting time if the storage is remote.
    fn waiting<T>(&self, job: impl FnOnce() -> T) -> T {
        self.counts.waiting(self.inner.profile(), job)
    }

    /// Runs a job, counts it as a request and measures the waiting time if the storage is remote.
    fn request<T>(&self, job: impl FnOnce() -> T) -> T {
        self.counts.request(self.inner.profile(), job)
    }

    fn write(&self) -> &dyn Storage {
        self.counts.writes.fetch_add(1, Relaxed);
        &*self.inner
    }
}

impl Counts {
    fn waiting<T>(&self, profile: ReadProfile, job: impl FnOnce() -> T) -> T {
        if !profile.is_remote() {
            return job();
        }
        let _waits = self.waiting.begin();
        job()
    }

    fn request<T>(&self, profile: ReadProfile, job: impl FnOnce() -> T) -> T {
        self.requests.fetch_add(u64::from(profile.is_remote()), Relaxed);
        self.waiting(profile, job)
    }
}

impl std::fmt::Display for Counters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { lists, opens, reads, bytes, writes, bytes_written, .. } = self;
        write!(f, "{lists} lists, {opens} opens, {reads} reads, {bytes} bytes")?;
        if *writes > 0 { write!(f, ", {writes} writes, {bytes_written} bytes written") } else { Ok(()) }
    }
}

impl Storage for CountingStorage {
    forward_storage!(|this| this.inner => profile, describe, uri);
    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        self.counts.lists.fetch_add(1, Relaxed);
        self.request(|| self.inner.list(folder))
    }

    fn names(&self, folder: &str) -> Result<Vec<(String, EntryKind)>> {
        self.counts.lists.fetch_add(1, Relaxed);
        self.request(|| self.inner.names(folder))
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        self.counts.opens.fetch_add(1, Relaxed);
        let inner = self.request(|| self.inner.open(path))?;
        Ok(Arc::new(CountingFile { inner, counts: Arc::clone(&self.counts) }))
    }

    fn open_sized(&self, path: &str, size: u64) -> Result<Arc<dyn ReadAt>> {
        self.counts.opens.fetch_add(1, Relaxed);
        let inner = self.inner.open_sized(path, size)?;
        Ok(Arc::new(CountingFile { inner, counts: Arc::clone(&self.counts) }))
    }

    fn fetch_one(&self, request: &Request) -> Result<Fetched> {
        self.counted(request, self.waiting(|| self.inner.fetch_one(request)))
    }

    fn fetch(&self, requests: &[Request]) -> Vec<Result<Fetched>> {
        let answers = requests.iter().zip(self.waiting(|| self.inner.fetch(requests)));
        answers.map(|(request, answer)| self.counted(request, answer)).collect()
    }

    fn fetch_each(&self, requests: &[Request], cancel: &CancelToken, take: &mut dyn FnMut(usize, Result<Fetched>)) {
        let mut counted = |place: usize, answer| {
            if let Some(request) = requests.get(place) {
                take(place, self.counted(request, answer));
            }
        };
        self.waiting(|| self.inner.fetch_each(requests, cancel, &mut counted));
    }

    fn kind(&self, path: &str) -> Result<Option<EntryKind>> {
        self.counts.opens.fetch_add(1, Relaxed);
        self.request(|| self.inner.kind(path))
    }

    fn file_size(&self, path: &str) -> Result<Option<u64>> {
        self.counts.opens.fetch_add(1, Relaxed);
        self.request(|| self.inner.file_size(path))
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        Ok(Arc::new(Self { inner: self.inner.sub(folder)?, counts: Arc::clone(&self.counts) }))
    }

    fn create_folder(&self, folder: &str) -> Result<()> {
        self.write().create_folder(folder)
    }

    fn create_new(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.request(|| self.write().create_new(path, bytes))?;
        self.counts.bytes_written.fetch_add(bytes.len() as u64, Relaxed);
        Ok(())
    }

    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        let inner = self.write().create_file(path)?;
        Ok(Box::new(CountingWriter { inner, counts: Arc::clone(&self.counts), profile: self.inner.profile() }))
    }

    fn sync_folder(&self, folder: &str) -> Result<()> {
        self.write().sync_folder(folder)
    }

    fn remove_file(&self, path: &str) -> Result<()> {
        self.request(|| self.write().remove_file(path))
    }

    fn remove_files(&self, paths: &[&str]) -> Vec<Result<()>> {
        let profile = self.inner.profile();
        if profile.is_remote() {
            // Each removal is a request.
            return at_once(profile.in_flight, paths, |path| self.remove_file(path));
        }
        self.counts.writes.fetch_add(paths.len() as u64, Relaxed);
        self.inner.remove_files(paths)
    }

    fn remove_folder(&self, folder: &str) -> Result<()> {
        self.write().remove_folder(folder)
    }

    fn remove_folders(&self, folders: &[&str]) -> Vec<Result<()>> {
        self.counts.writes.fetch_add(folders.len() as u64, Relaxed);
        self.inner.remove_folders(folders)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.write().rename(from, to)
    }
}

#[derive(Debug)]
struct CountingFile {
    inner: Arc<dyn ReadAt>,
    counts: Arc<Counts>,
}

impl ReadAt for CountingFile {
    fn size(&self) -> u64 {
        self.inner.size()
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.counts.reads.fetch_add(1, Relaxed);
        self.counts.request(self.inner.profile(), || self.inner.read_into(offset, buffer))?;
        self.counts.bytes.fetch_add(buffer.len() as u64, Relaxed);
        Ok(())
    }

    fn profile(&self) -> ReadProfile {
        self.inner.profile()
    }
}

#[derive(Debug)]
struct CountingWriter {
    inner: Box<dyn WriteFile>,
    counts: Arc<Counts>,
    profile: ReadProfile,
}

impl WriteFile for CountingWriter {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.counts.writes.fetch_add(1, Relaxed);
        self.inner.append(bytes)?;
        self.counts.bytes_written.fetch_add(bytes.len() as u64, Relaxed);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.counts.writes.fetch_add(1, Relaxed);
        let Self { inner, counts, profile } = *self;
        counts.request(profile, || inner.finish())
    }
}
