//! A storage with the latency of an object store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use tdb_storage::{
    Entry, EntryKind, Fetched, Part, ReadAt, ReadProfile, Request, Result, Storage, at_once, forward_storage,
};

/// A storage wrapper that delays each request like an object store, and counts sequential round
/// trips.
#[derive(Clone, Debug)]
pub struct LatentStorage {
    inner: Arc<dyn Storage>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    latency: Duration,
    /// Bandwidth of an answer, in bytes per second.
    bytes_per_second: u64,
    profile: ReadProfile,
    /// Length of the longest chain of sequential requests, each started after the end of the
    /// previous request.
    trips: AtomicU64,
    requests: AtomicU64,
}

impl LatentStorage {
    /// Wraps `inner`. Each request takes `latency`, plus the time of its bytes at
    /// `bytes_per_second`. Up to 64 requests can run in parallel.
    #[must_use]
    pub fn new(inner: Arc<dyn Storage>, latency: Duration, bytes_per_second: u64) -> Self {
        Self::with_profile(inner, latency, bytes_per_second, ReadProfile::new(64 << 10, 4 << 20, 64))
    }

    /// Wraps `inner`, with the given profile instead of an object store's.
    #[must_use]
    pub fn with_profile(
        inner: Arc<dyn Storage>,
        latency: Duration,
        bytes_per_second: u64,
        profile: ReadProfile,
    ) -> Self {
        let (trips, requests) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { inner, shared: Arc::new(Shared { latency, bytes_per_second, profile, trips, requests }) }
    }

    /// Returns the number of sequential round trips since the last call. This is the length of the
    /// longest chain of requests, each started after the end of the previous request.
    pub fn take_trips(&self) -> u64 {
        self.shared.trips.swap(0, SeqCst)
    }

    /// Returns the number of requests since the last call.
    pub fn take_requests(&self) -> u64 {
        self.shared.requests.swap(0, SeqCst)
    }

    fn file(&self, inner: Arc<dyn ReadAt>) -> Arc<dyn ReadAt> {
        Arc::new(LatentFile { inner, shared: Arc::clone(&self.shared) })
    }
}

impl Shared {
    /// Answers a request. `bytes` returns the size of the answer.
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

    /// Sends no request. The first read reports a missing file.
    fn open_sized(&self, path: &str, size: u64) -> Result<Arc<dyn ReadAt>> {
        Ok(self.file(self.inner.open_sized(path, size)?))
    }

    fn profile(&self) -> ReadProfile {
        self.shared.profile
    }

    /// Sends one request for any part. Object stores return the last bytes of a file together with
    /// its size.
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
