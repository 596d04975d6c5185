//! Reading bytes before somebody waits for them.

mod planned;
mod queue;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use crate::file::check_end;
use crate::{CancelToken, Fetched, OnCancel, ReadAt, ReadProfile, Request, Result, Storage, forward_storage};
use queue::Queue;

pub use planned::PlannedFile;

/// Wraps a storage whose answers take long, so that bytes can be in memory before they are read.
///
/// A caller that knows which bytes will be read says so by [`read_ahead`](Self::read_ahead), or [supplies](Self::supply) them.
/// Reads go on as ever: what is in memory is copied from there, what is on its way is waited for, and anything else is a plain read of
/// the wrapped storage. So a wrong guess costs time, and nothing else.
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
/// drop(ahead); // gives the memory back
/// # Ok::<(), tdb_storage::StorageError>(())
/// ```
#[derive(Clone, Debug)]
pub struct AheadStorage {
    inner: Arc<dyn Storage>,
    files: Arc<Mutex<HashMap<String, Weak<Queues>>>>,
}

/// Bytes that are read ahead, or were supplied, as long as this lives.
#[must_use = "dropped at once, it is of no use"]
pub struct ReadAhead {
    queue: Arc<Queue>,
    /// What files that were opened look into.
    _files: Vec<Arc<Queues>>,
    /// What ends it before it is dropped.
    until: Option<OnCancel>,
}

impl ReadAhead {
    /// Ends it also when this token is cancelled: what is on its way is given up then, and who waits for it asks for it himself.
    pub fn until(mut self, token: &CancelToken) -> Self {
        let left = self.queue.left().clone();
        self.until = Some(token.on_cancel(move || left.cancel()));
        self
    }
}

/// What is read ahead of one file, by whoever.
#[derive(Debug, Default)]
struct Queues {
    /// Each with the file's place in it.
    list: Mutex<Vec<(Weak<Queue>, usize)>>,
}

impl AheadStorage {
    /// Wraps a storage.
    #[must_use]
    pub fn new(inner: Arc<dyn Storage>) -> Self {
        Self { inner, files: Arc::default() }
    }

    /// Reads ranges of files before they are asked for, about in this order, holding about `budget` bytes at once: as many as
    /// that in the first call, and further ones when those were read.
    pub fn read_ahead(&self, files: Vec<PlannedFile>, budget: u64) -> ReadAhead {
        let ahead = self.add(Queue::new(self.inner.clone(), files, budget));
        ahead.queue.begin();
        ahead
    }

    /// Puts bytes of a file of `size` bytes into memory, from `start` on: whoever has them already, such as a browser.
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

    /// Those that are in use.
    fn current(&self) -> Vec<(Arc<Queue>, usize)> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter().filter_map(|(queue, place)| Some((queue.upgrade()?, *place))).collect()
    }

    /// Copies bytes that are in memory or on their way to the beginning of `buffer`; how many.
    fn take(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let taken = self.current().into_iter().map(|(queue, place)| queue.take(place, offset, buffer));
        taken.into_iter().find(|taken| *taken > 0).unwrap_or(0)
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.until = None;
        self.queue.left().cancel();
    }
}

impl fmt::Debug for ReadAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadAhead({} files)", self.queue.paths().count())
    }
}

/// A file, some bytes of which may be in memory already.
#[derive(Debug)]
struct AheadFile {
    inner: Arc<dyn Storage>,
    path: String,
    size: u64,
    /// The wrapped storage's file, once somebody wants what isn't in memory.
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
                    // Two threads may both open it; the first one's stays.
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
        // What was supplied needs no request.
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
