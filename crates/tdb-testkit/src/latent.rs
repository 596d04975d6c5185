//! A storage whose answers take a while, as those of an object store do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use tdb_storage::{
    Entry, EntryKind, Fetched, Part, ReadAt, ReadProfile, Request, Result, Storage, at_once, forward_storage,
};

/// Wraps a storage so that each request takes as long as on an object store, and counts how many of them had to wait for one
/// another.
#[derive(Clone, Debug)]
pub struct LatentStorage {
    inner: Arc<dyn Storage>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    latency: Duration,
    /// Bytes of an answer that arrive in a second.
    bytes_per_second: u64,
    profile: ReadProfile,
    /// The longest chain of requests in which each began after the one before it had ended.
    trips: AtomicU64,
    requests: AtomicU64,
}

impl LatentStorage {
    /// As `inner`, but each request takes `latency`, and each answer as long as its bytes need at `bytes_per_second`; 64
    /// requests may wait at once.
    #[must_use]
    pub fn new(inner: Arc<dyn Storage>, latency: Duration, bytes_per_second: u64) -> Self {
        let profile = ReadProfile::new(64 << 10, 4 << 20, 64);
        let (trips, requests) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { inner, shared: Arc::new(Shared { latency, bytes_per_second, profile, trips, requests }) }
    }

    /// How many round trips in sequence there were since the last call: the longest chain of requests in which each began when
    /// the one before it had ended.
    pub fn take_trips(&self) -> u64 {
        self.shared.trips.swap(0, SeqCst)
    }

    /// How many requests there were since the last call.
    pub fn take_requests(&self) -> u64 {
        self.shared.requests.swap(0, SeqCst)
    }

    fn file(&self, inner: Arc<dyn ReadAt>) -> Arc<dyn ReadAt> {
        Arc::new(LatentFile { inner, shared: Arc::clone(&self.shared) })
    }
}

impl Shared {
    /// Answers a request; `bytes` says how many bytes come back.
    fn answer<T>(&self, job: impl FnOnce() -> T, bytes: impl FnOnce(&T) -> usize) -> T {
        let trip = self.trips.load(SeqCst) + 1;
        self.requests.fetch_add(1, SeqCst);
        let answer = job();
        let bytes = bytes(&answer) as u64;
        thread::sleep(self.latency + Duration::from_nanos(bytes.saturating_mul(1_000_000_000) / self.bytes_per_second));
        self.trips.fetch_max(trip, SeqCst);
        answer
    }
}

#[derive(Debug)]
struct LatentFile {
    inner: Arc<dyn ReadAt>,
    shared: Arc<Shared>,
}

impl ReadAt for LatentFile {
    fn size(&self) -> u64 {
        self.inner.size()
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let len = buffer.len();
        self.shared.answer(|| self.inner.read_into(offset, buffer), |_| len)
    }

    fn profile(&self) -> ReadProfile {
        self.shared.profile
    }
}

impl Storage for LatentStorage {
    forward_storage!(|this| this.inner => describe, uri, create_folder, create_new, create_file);
    forward_storage!(|this| this.inner => sync_folder, remove_file, remove_folder);
    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        self.shared.answer(|| self.inner.list(folder), |_| 0)
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        Ok(self.file(self.shared.answer(|| self.inner.open(path), |_| 0)?))
    }

    /// No request: the first read finds out.
    fn open_sized(&self, path: &str, size: u64) -> Result<Arc<dyn ReadAt>> {
        Ok(self.file(self.inner.open_sized(path, size)?))
    }

    fn profile(&self) -> ReadProfile {
        self.shared.profile
    }

    /// One request, whatever is wanted: stores give the last bytes of a file with its size.
    fn fetch_one(&self, request: &Request) -> Result<Fetched> {
        let bytes = |answer: &Result<Fetched>| answer.as_ref().map_or(0, |fetched| fetched.bytes.len());
        let fetched = self.shared.answer(|| self.inner.fetch_one(request), bytes)?;
        Ok(Fetched { file: self.file(fetched.file), ..fetched })
    }

    fn fetch(&self, requests: &[Request]) -> Vec<Result<Fetched>> {
        debug_assert!(
            requests.iter().all(|request| !matches!(request.part, Part::Range { ref range, .. } if range.is_empty()))
        );
        at_once(self.shared.profile.in_flight, requests, |request| self.fetch_one(request))
    }

    fn kind(&self, path: &str) -> Result<Option<EntryKind>> {
        self.shared.answer(|| self.inner.kind(path), |_| 0)
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        Ok(Arc::new(Self { inner: self.inner.sub(folder)?, shared: Arc::clone(&self.shared) }))
    }
}
