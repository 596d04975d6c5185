//! Reading ahead of demand.

mod planned;
mod queue;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use crate::file::check_end;
use crate::{CancelToken, Fetched, OnCancel, ReadAt, ReadProfile, Request, Result, Storage, forward_storage};
use queue::Queue;

pub use planned::PlannedFile;

/// A wrapper that loads bytes ahead of reads, for a storage with high latency.
///
/// The caller announces future reads with [`read_ahead`](Self::read_ahead), or
/// [supplies](Self::supply) bytes. Later reads copy bytes already in memory and wait for bytes in
/// flight. All remaining bytes are read from the wrapped storage, so a wrong announcement only
/// costs time.
///
/// ```
/// use std::sync::Arc;
/// use tdb_storage::{AheadStorage, CountingStorage, MemoryStorage, PlannedFile, Storage};
///
/// let memory = MemoryStorage::new();
/// memory.create_new("f", b"0123456789")?;
/// let counting = CountingStorage::new(Arc::new(memory));
/// let storage = AheadStorage::new(Arc::new(counting.clone()));
/// let planned = PlannedFile { path: "f".to_owned(), size: 10, ranges: vec![2..4, 6..8] };
/// let ahead = storage.read_ahead(vec![planned], 1 << 20);
/// let mut bytes = [0; 2];
/// storage.open_sized("f", 10)?.read_into(6, &mut bytes)?;
/// assert_eq!((&bytes, counting.counters().reads), (b"67", 2));
/// drop(ahead); // frees the memory
/// # Ok::<(), tdb_storage::StorageError>(())
/// ```
#[derive(Clone, Debug)]
pub struct AheadStorage {
    inner: Arc<dyn Storage>,
    files: Arc<Mutex<HashMap<String, Weak<Queues>>>>,
}

/// A handle to read-ahead or supplied bytes. Dropping the handle frees the memory once requests in
/// flight have ended.
#[must_use = "dropping the handle at once frees the bytes unread"]
pub struct ReadAhead {
    queue: Arc<Queue>,
    /// Keeps the queue lists alive, because the storage refers to them weakly.
    _files: Vec<Arc<Queues>>,
    /// The registration for ending the read-ahead on cancellation.
    until: Option<OnCancel>,
}

impl ReadAhead {
    /// Also ends the read-ahead when `token` is cancelled. Requests in flight are then aborted if
    /// the storage supports this, and waiting readers issue their own reads.
    pub fn until(mut self, token: &CancelToken) -> Self {
        let left = self.queue.left.clone();
        self.until = Some(token.on_cancel(move || left.cancel()));
        self
    }
}

/// All read-ahead queues of a file.
#[derive(Debug, Default)]
struct Queues {
    /// Each queue, with the index of this file in the queue.
    list: Mutex<Vec<(Weak<Queue>, usize)>>,
}

impl AheadStorage {
    /// Wraps a storage.
    #[must_use]
    pub fn new(inner: Arc<dyn Storage>) -> Self {
        Self { inner, files: Arc::default() }
    }

    /// Loads ranges of files ahead of reads, approximately in the given order. Returns without
    /// waiting for bytes.
    ///
    /// At most about `budget` bytes are held at once. The call requests the first `budget` bytes.
    /// Reading them makes room for further requests.
    pub fn read_ahead(&self, files: Vec<PlannedFile>, budget: u64) -> ReadAhead {
        let ahead = self.add(Queue::new(self.inner.clone(), files, budget));
        ahead.queue.begin();
        ahead
    }

    /// Adds bytes that the caller already holds, such as a file chosen in a browser. Reads use the
    /// bytes until the returned handle is dropped. `bytes` start at offset `start` in a file of
    /// `size` bytes.
    pub fn supply(&self, path: &str, size: u64, start: u64, bytes: Vec<u8>) -> ReadAhead {
        self.add(Queue::supplied(self.inner.clone(), path, size, start, bytes))
    }

    fn add(&self, queue: Queue) -> ReadAhead {
        let queue = Arc::new(queue);
        let files = queue.paths().enumerate().map(|(place, path)| {
            let queues = self.queues(path);
            queues.add(&queue, place);
            queues
        });
        ReadAhead { _files: files.collect(), queue: queue.clone(), until: None }
    }

    fn queues(&self, path: &str) -> Arc<Queues> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queues) = files.get(path).and_then(Weak::upgrade) {
            return queues;
        }
        if files.len() >= 1024 && files.len().is_power_of_two() {
            files.retain(|_, queues| queues.strong_count() > 0);
        }
        let queues = Arc::new(Queues::default());
        files.insert(path.to_owned(), Arc::downgrade(&queues));
        queues
    }

    fn wrap(&self, path: &str, file: Arc<dyn ReadAt>) -> Arc<dyn ReadAt> {
        let size = file.size();
        self.file(path, size, OnceLock::from(file))
    }

    fn file(&self, path: &str, size: u64, opened: OnceLock<Arc<dyn ReadAt>>) -> Arc<dyn ReadAt> {
        let (inner, path, queues) = (self.inner.clone(), path.to_owned(), self.queues(path));
        Arc::new(AheadFile { inner, path, size, opened, queues })
    }
}

impl Queues {
    fn add(&self, queue: &Arc<Queue>, place: usize) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|(queue, _)| queue.strong_count() > 0);
        list.push((Arc::downgrade(queue), place));
    }

    /// Returns the queues in use.
    fn current(&self) -> Vec<(Arc<Queue>, usize)> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter().filter_map(|(queue, place)| Some((queue.upgrade()?, *place))).collect()
    }

    /// Copies bytes to the start of `buffer`, waiting for bytes in flight. Returns the number of
    /// bytes copied, which is 0 if no queue has the byte at `offset`.
    fn take(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let taken = self.current().into_iter().map(|(queue, place)| queue.take(place, offset, buffer));
        taken.into_iter().find(|taken| *taken > 0).unwrap_or(0)
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.until = None;
        self.queue.left.cancel();
    }
}

impl fmt::Debug for ReadAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadAhead({} files)", self.queue.paths().count())
    }
}

/// A file that reads bytes from the queues first, and the remaining bytes from the wrapped storage.
#[derive(Debug)]
struct AheadFile {
    inner: Arc<dyn Storage>,
    path: String,
    size: u64,
    /// The file in the wrapped storage, opened at the first read of bytes not in memory.
    opened: OnceLock<Arc<dyn ReadAt>>,
    queues: Arc<Queues>,
}

impl ReadAt for AheadFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        check_end(self.size, offset, buffer.len(), || self.inner.describe(&self.path))?;
        let (mut offset, mut rest) = (offset, buffer);
        while !rest.is_empty() {
            let taken = self.queues.take(offset, rest);
            if taken == 0 {
                if self.opened.get().is_none() {
                    let file = self.inner.open_sized(&self.path, self.size)?;
                    // If two threads open the file, the first handle is kept.
                    let _ = self.opened.set(file);
                }
                return self.opened.get().map_or(Ok(()), |file| file.read_into(offset, rest));
            }
            offset += taken as u64;
            rest = &mut rest[taken..];
        }
        Ok(())
    }

    fn profile(&self) -> ReadProfile {
        self.inner.profile()
    }
}

impl Storage for AheadStorage {
    forward_storage!(|this| this.inner => list, profile, kind, describe, uri, create_folder, create_new, create_file);
    forward_storage!(|this| this.inner => sync_folder, remove_file, remove_folder, rename);
    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        if let Some(size) = self.queues(path).current().first().map(|(queue, place)| queue.size(*place)) {
            return Ok(self.file(path, size, OnceLock::new()));
        }
        Ok(self.wrap(path, self.inner.open(path)?))
    }

    fn open_sized(&self, path: &str, size: u64) -> Result<Arc<dyn ReadAt>> {
        if !self.profile().is_remote() {
            return Ok(self.wrap(path, self.inner.open_sized(path, size)?));
        }
        Ok(self.file(path, size, OnceLock::new()))
    }

    fn fetch_one(&self, request: &Request) -> Result<Fetched> {
        // Supplied bytes need no request.
        if !self.queues(&request.path).current().is_empty() {
            return crate::storage::fetch_one(self, request);
        }
        let fetched = self.inner.fetch_one(request)?;
        Ok(Fetched { file: self.wrap(&request.path, fetched.file), ..fetched })
    }

    fn fetch(&self, requests: &[Request]) -> Vec<Result<Fetched>> {
        if requests.iter().any(|request| !self.queues(&request.path).current().is_empty()) {
            return crate::at_once(self.profile().in_flight, requests, |request| self.fetch_one(request));
        }
        let answers = self.inner.fetch(requests).into_iter().zip(requests);
        let wrap = |fetched: Fetched, request: &Request| Fetched {
            file: self.wrap(&request.path, fetched.file.clone()),
            ..fetched
        };
        answers.map(|(answer, request)| answer.map(|fetched| wrap(fetched, request))).collect()
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        Ok(Arc::new(Self::new(self.inner.sub(folder)?)))
    }
}

#[cfg(test)]
mod tests;
