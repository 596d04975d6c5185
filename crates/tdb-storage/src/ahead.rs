//! Reading bytes before somebody waits for them.

mod schedule;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread;

use crate::storage::check_end;
use crate::{Entry, EntryKind, Fetched, ReadAt, ReadProfile, Request, Result, Storage, WriteFile};
use schedule::Schedule;

/// Wraps a storage whose answers take long, so that bytes can be in memory before they are read.
///
/// Who knows which bytes will be read says so by [`read_ahead`](Self::read_ahead), or [supplies](Self::supply) them. Reads go on
/// as ever: what is in memory is copied from there, what is on its way is waited for, and anything else is a plain read of
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
    files: Arc<Mutex<HashMap<String, Weak<Schedules>>>>,
}

/// The ranges of a file that will be read, about in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// The file.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// The bytes, ascending.
    pub ranges: Vec<Range<u64>>,
}

/// Bytes that are read ahead, or were supplied, as long as this lives.
#[must_use = "dropped at once, it is of no use"]
pub struct ReadAhead {
    /// Each with the file that reads through it.
    schedules: Vec<(Arc<Schedules>, Arc<Schedule>)>,
}

/// What is read ahead of one file, by whoever.
#[derive(Debug, Default)]
struct Schedules {
    list: Mutex<Vec<Weak<Schedule>>>,
}

impl AheadStorage {
    /// Wraps a storage.
    #[must_use]
    pub fn new(inner: Arc<dyn Storage>) -> Self {
        Self { inner, files: Arc::default() }
    }

    /// Reads ranges of files before they are asked for, holding about `budget` bytes at once: the first ranges of all files in
    /// one call, and further ones of a file when reads of it come near.
    pub fn read_ahead(&self, files: Vec<PlannedFile>, budget: u64) -> ReadAhead {
        let bytes = |file: &PlannedFile| file.ranges.iter().map(|range| range.end.saturating_sub(range.start)).sum();
        let sizes: Vec<u64> = files.iter().map(bytes).collect();
        let total = sizes.iter().copied().fold(0, u64::saturating_add).max(1);
        let schedules = files.into_iter().zip(sizes).filter(|(_, size)| *size > 0).map(|(file, size)| {
            let share = u128::from(budget.min(total)) * u128::from(size) / u128::from(total);
            let share = u64::try_from(share).unwrap_or(budget);
            let schedules = self.schedules(&file.path);
            let schedule = Arc::new(Schedule::new(self.inner.clone(), file, share, total <= budget));
            schedules.add(&schedule);
            (schedules, schedule)
        });
        let ahead = ReadAhead { schedules: schedules.collect() };
        let first = ahead.schedules.iter().map(|(_, schedule)| schedule.clone()).collect();
        Schedule::begin(&self.inner, first);
        ahead
    }

    /// Puts bytes of a file of `size` bytes into memory, from `start` on: whoever has them already, such as a browser.
    pub fn supply(&self, path: &str, size: u64, start: u64, bytes: Vec<u8>) -> ReadAhead {
        let schedules = self.schedules(path);
        let schedule = Arc::new(Schedule::supplied(self.inner.clone(), path, size, start, bytes));
        schedules.add(&schedule);
        ReadAhead { schedules: vec![(schedules, schedule)] }
    }

    fn schedules(&self, path: &str) -> Arc<Schedules> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(schedules) = files.get(path).and_then(Weak::upgrade) {
            return schedules;
        }
        if files.len() >= 1024 && files.len().is_power_of_two() {
            files.retain(|_, schedules| schedules.strong_count() > 0);
        }
        let schedules = Arc::new(Schedules::default());
        files.insert(path.to_owned(), Arc::downgrade(&schedules));
        schedules
    }

    fn wrap(&self, path: &str, file: Arc<dyn ReadAt>) -> Arc<dyn ReadAt> {
        let size = file.size();
        self.file(path, size, OnceLock::from(file))
    }

    fn file(&self, path: &str, size: u64, opened: OnceLock<Arc<dyn ReadAt>>) -> Arc<dyn ReadAt> {
        let (inner, path, schedules) = (self.inner.clone(), path.to_owned(), self.schedules(path));
        Arc::new(AheadFile { inner, path, size, opened, schedules })
    }
}

impl Schedules {
    fn add(&self, schedule: &Arc<Schedule>) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|schedule| schedule.strong_count() > 0);
        list.push(Arc::downgrade(schedule));
    }

    /// Those that are in use.
    fn current(&self) -> Vec<Arc<Schedule>> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter().filter_map(Weak::upgrade).collect()
    }

    /// Copies bytes that are in memory or on their way to the beginning of `buffer`; how many.
    fn take(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let taken = self.current().into_iter().map(|schedule| schedule.take(offset, buffer));
        taken.into_iter().find(|taken| *taken > 0).unwrap_or(0)
    }
}

impl fmt::Debug for ReadAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadAhead({} files)", self.schedules.len())
    }
}

/// A file of which bytes may be in memory already.
#[derive(Debug)]
struct AheadFile {
    inner: Arc<dyn Storage>,
    path: String,
    size: u64,
    /// The wrapped storage's file, once somebody wants what isn't in memory.
    opened: OnceLock<Arc<dyn ReadAt>>,
    schedules: Arc<Schedules>,
}

impl ReadAt for AheadFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        check_end(self.size, offset, buffer.len(), || self.inner.describe(&self.path))?;
        let (mut offset, mut rest) = (offset, buffer);
        while !rest.is_empty() {
            let taken = self.schedules.take(offset, rest);
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

/// Runs a job that waits beside the caller; false if there can't be a thread for it.
fn spawn(job: impl FnOnce() + Send + 'static) -> bool {
    thread::Builder::new().name("tdb-read-ahead".to_owned()).spawn(job).is_ok()
}

impl Storage for AheadStorage {
    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        self.inner.list(folder)
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        if let Some(size) = self.schedules(path).current().first().map(|schedule| schedule.size()) {
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

    fn profile(&self) -> ReadProfile {
        self.inner.profile()
    }

    fn fetch_one(&self, request: &Request) -> Result<Fetched> {
        // What was supplied needs no request.
        if !self.schedules(&request.path).current().is_empty() {
            return crate::fetch::fetch_one(self, request);
        }
        let fetched = self.inner.fetch_one(request)?;
        Ok(Fetched { file: self.wrap(&request.path, fetched.file), ..fetched })
    }

    fn fetch(&self, requests: &[Request]) -> Vec<Result<Fetched>> {
        if requests.iter().any(|request| !self.schedules(&request.path).current().is_empty()) {
            return crate::at_once(self.profile().in_flight, requests, |request| self.fetch_one(request));
        }
        let answers = self.inner.fetch(requests).into_iter().zip(requests);
        let wrap = |fetched: Fetched, request: &Request| Fetched {
            file: self.wrap(&request.path, fetched.file.clone()),
            ..fetched
        };
        answers.map(|(answer, request)| answer.map(|fetched| wrap(fetched, request))).collect()
    }

    fn kind(&self, path: &str) -> Result<Option<EntryKind>> {
        self.inner.kind(path)
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        Ok(Arc::new(Self::new(self.inner.sub(folder)?)))
    }

    fn describe(&self, path: &str) -> String {
        self.inner.describe(path)
    }

    fn create_folder(&self, folder: &str) -> Result<()> {
        self.inner.create_folder(folder)
    }

    fn create_new(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.inner.create_new(path, bytes)
    }

    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        self.inner.create_file(path)
    }

    fn sync_folder(&self, folder: &str) -> Result<()> {
        self.inner.sync_folder(folder)
    }

    fn remove_file(&self, path: &str) -> Result<()> {
        self.inner.remove_file(path)
    }

    fn remove_folder(&self, folder: &str) -> Result<()> {
        self.inner.remove_folder(folder)
    }
}

#[cfg(test)]
mod tests;
