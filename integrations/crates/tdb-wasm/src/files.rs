//! Files in memory, as a storage with a record of missing parts.
//!
//! The engine reads synchronously, and JavaScript fetches asynchronously. A call of the engine
//! therefore runs on the bytes fetched so far. The storage records each missing listing and range,
//! and fails the read. The engine requests all known parts at once, so a single failed call records
//! many parts. JavaScript fetches the parts concurrently, supplies the bytes, and repeats the call.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tdb_array::tdb_storage::{
    Entry, EntryKind, Fetched, Part, ReadAt, ReadProfile, Request, Result, Storage, StorageError, WriteFile,
    check_path, coalesce,
};

/// The profile of requests over the internet, equal to the default of `tdb-object-store`.
pub(crate) const PROFILE: ReadProfile = ReadProfile::new(128 << 10, 8 << 20, 256).immediate();

/// The missing parts of a call.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Needs {
    pub(crate) folders: Vec<String>,
    /// Ranges to fetch with one request each.
    pub(crate) ranges: Vec<(String, Range<u64>)>,
}

impl Needs {
    pub(crate) fn is_empty(&self) -> bool {
        self.folders.is_empty() && self.ranges.is_empty()
    }
}

/// The fetched files of a source. Clones share the files.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    name: Arc<str>,
    state: Arc<Mutex<State>>,
}

/// Bytes of a file by start and operation.
type Blocks = BTreeMap<(u64, u32), Vec<u8>>;

#[derive(Debug, Default)]
struct State {
    /// `None` for a folder that does not exist.
    folders: HashMap<String, Option<Vec<Entry>>>,
    /// Fetched ranges by file.
    ranges: HashMap<String, Blocks>,
    /// Files named by a listing or a footer, but not found by a request.
    gone: HashSet<String>,
    missing_folders: Vec<String>,
    missing_ranges: HashMap<String, Vec<Range<u64>>>,
}

impl State {
    /// Returns the fetched bytes of a file from an offset on, up to the end of a block.
    fn block(&self, path: &str, offset: u64) -> Option<&[u8]> {
        /// Blocks of other operations may start between the offset and the block with its byte.
        const MOST_STEPS: usize = 64;
        let blocks = self.ranges.get(path)?.range(..=(offset, u32::MAX)).rev().take(MOST_STEPS);
        let mut rest = blocks.filter_map(|((start, _), bytes)| bytes.get(usize::try_from(offset - start).ok()?..));
        rest.find(|rest| !rest.is_empty())
    }

    /// Fills the buffer, or records the missing range.
    fn read(&mut self, path: &str, offset: u64, buffer: &mut [u8]) -> bool {
        let mut done = 0;
        while done < buffer.len() {
            let Some(block) = self.block(path, offset + done as u64) else {
                let missing = offset + done as u64..offset + buffer.len() as u64;
                self.missing_ranges.entry(path.to_owned()).or_default().push(missing);
                return false;
            };
            let len = block.len().min(buffer.len() - done);
            buffer[done..done + len].copy_from_slice(&block[..len]);
            done += len;
        }
        true
    }

    fn has(&self, path: &str, range: &Range<u64>) -> bool {
        let Some(blocks) = self.ranges.get(path) else { return false };
        let mut end = range.start;
        while end < range.end {
            let reach = |((start, _), bytes): (&(u64, u32), &Vec<u8>)| start + bytes.len() as u64;
            match blocks.range(..=(end, u32::MAX)).rev().take(64).map(reach).max() {
                Some(reached) if reached > end => end = reached,
                _ => return false,
            }
        }
        true
    }
}

impl Files {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.into(), state: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the storage rooted at a folder.
    ///
    /// # Errors
    /// The path is invalid.
    pub(crate) fn storage(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        check_path(folder)?;
        Ok(Arc::new(Fetching { files: self.clone(), root: folder.to_owned() }))
    }

    pub(crate) fn supply_folder(&self, folder: &str, mut entries: Option<Vec<Entry>>) {
        if let Some(entries) = &mut entries {
            entries.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
        }
        self.state().folders.insert(folder.to_owned(), entries);
    }

    /// Adds bytes of a file for an operation.
    pub(crate) fn supply(&self, operation: u32, path: &str, start: u64, bytes: Vec<u8>) {
        let mut state = self.state();
        state.ranges.entry(path.to_owned()).or_default().insert((start, operation), bytes);
    }

    pub(crate) fn supply_gone(&self, path: &str) {
        self.state().gone.insert(path.to_owned());
    }

    /// Frees the bytes of an operation.
    pub(crate) fn release(&self, operation: u32) {
        self.state().ranges.retain(|_, blocks| {
            blocks.retain(|(_, of), _| *of != operation);
            !blocks.is_empty()
        });
    }

    /// Records the ranges of a file outside of memory.
    pub(crate) fn want(&self, path: &str, ranges: &[Range<u64>]) {
        let mut state = self.state();
        let missing: Vec<_> = ranges.iter().filter(|range| !state.has(path, range)).cloned().collect();
        if !missing.is_empty() {
            state.missing_ranges.entry(path.to_owned()).or_default().extend(missing);
        }
    }

    /// Returns `true` if parts are missing since the last call of [`take_needs`](Self::take_needs).
    pub(crate) fn has_needs(&self) -> bool {
        let state = self.state();
        !state.missing_folders.is_empty() || !state.missing_ranges.is_empty()
    }

    /// Returns the path of a folder below the source's root.
    pub(crate) fn below(&self, described: &str) -> String {
        let name = self.name.trim_end_matches('/');
        described.strip_prefix(name).unwrap_or(described).trim_matches('/').to_owned()
    }

    /// Returns the missing parts since the last call. Neighboring ranges are merged, and large
    /// ranges are cut, as for other remote storages.
    pub(crate) fn take_needs(&self) -> Needs {
        let mut state = self.state();
        let mut folders = std::mem::take(&mut state.missing_folders);
        folders.sort_unstable();
        folders.dedup();
        let mut missing: Vec<_> = std::mem::take(&mut state.missing_ranges).into_iter().collect();
        missing.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut ranges = Vec::new();
        for (path, wanted) in missing {
            for range in coalesce(&wanted, PROFILE.gap) {
                let mut start = range.start;
                while start < range.end {
                    let end = range.end.min(start.saturating_add(PROFILE.largest));
                    ranges.push((path.clone(), start..end));
                    start = end;
                }
            }
        }
        Needs { folders, ranges }
    }
}

/// A folder of a source as a storage.
#[derive(Clone, Debug)]
struct Fetching {
    files: Files,
    root: String,
}

impl Fetching {
    fn whole(&self, path: &str) -> Result<String> {
        check_path(path)?;
        Ok(match (self.root.is_empty(), path.is_empty()) {
            (true, _) => path.to_owned(),
            (_, true) => self.root.clone(),
            _ => format!("{}/{path}", self.root),
        })
    }

    #[cold]
    fn not_fetched(&self, path: &str) -> StorageError {
        let source = io::Error::new(io::ErrorKind::WouldBlock, "not fetched yet");
        StorageError::Io { path: self.describe(path), source: Arc::new(source) }
    }

    /// Records a missing range.
    #[cold]
    fn miss(&self, path: &str, whole: &str, range: &Range<u64>) -> StorageError {
        self.files.state().missing_ranges.entry(whole.to_owned()).or_default().push(range.clone());
        self.not_fetched(path)
    }

    fn read_only(&self, path: &str) -> StorageError {
        StorageError::PermissionDenied { path: self.describe(path) }
    }

    /// Passes the entries of a folder, by the complete path, or `None` for a missing folder.
    fn entries<T>(&self, whole: &str, path: &str, each: impl FnOnce(Option<&Vec<Entry>>) -> T) -> Result<T> {
        let mut state = self.files.state();
        match state.folders.get(whole) {
            Some(entries) => Ok(each(entries.as_ref())),
            None => {
                state.missing_folders.push(whole.to_owned());
                drop(state);
                Err(self.not_fetched(path))
            }
        }
    }

    /// Returns the entry of a path other than the source's root.
    fn entry(&self, path: &str, whole: &str) -> Result<Option<Entry>> {
        let (folder, name) = whole.rsplit_once('/').unwrap_or(("", whole));
        self.entries(folder, path, |entries| entries?.iter().find(|entry| entry.name == name).cloned())
    }

    /// Returns the size of a file.
    fn size(&self, path: &str) -> Result<u64> {
        let whole = self.whole(path)?;
        match self.entry(path, &whole)? {
            Some(Entry { kind: EntryKind::File, size, .. }) => Ok(size),
            Some(_) => Err(StorageError::NotAFile { path: self.describe(path) }),
            None => Err(StorageError::NotFound { path: self.describe(path) }),
        }
    }

    fn file(&self, path: &str, size: u64) -> Result<Arc<dyn ReadAt>> {
        let whole = self.whole(path)?;
        Ok(Arc::new(File { storage: self.clone(), path: path.to_owned(), whole, size }))
    }

    fn read(&self, path: &str, whole: &str, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let mut state = self.files.state();
        if state.gone.contains(whole) {
            return Err(StorageError::NotFound { path: self.describe(path) });
        }
        if state.read(whole, offset, buffer) {
            return Ok(());
        }
        drop(state);
        Err(self.not_fetched(path))
    }
}

#[derive(Debug)]
struct File {
    storage: Fetching,
    path: String,
    whole: String,
    size: u64,
}

impl ReadAt for File {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let need = buffer.len() as u64;
        if offset.checked_add(need).is_none_or(|end| end > self.size) {
            let path = self.storage.describe(&self.path);
            return Err(StorageError::UnexpectedEnd { path, offset, need, size: self.size });
        }
        self.storage.read(&self.path, &self.whole, offset, buffer)
    }

    fn profile(&self) -> ReadProfile {
        PROFILE
    }
}

impl Storage for Fetching {
    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        let whole = self.whole(folder)?;
        let entries = self.entries(&whole, folder, |entries| Some(entries?.clone()))?;
        entries.ok_or_else(|| StorageError::NotFound { path: self.describe(folder) })
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        self.file(path, self.size(path)?)
    }

    fn open_sized(&self, path: &str, size: u64) -> Result<Arc<dyn ReadAt>> {
        self.file(path, size)
    }

    fn profile(&self) -> ReadProfile {
        PROFILE
    }

    fn fetch_one(&self, request: &Request) -> Result<Fetched> {
        let Request { path, part, limit } = request;
        let size = match part {
            Part::Range { size, .. } => *size,
            Part::All | Part::Last(_) => self.size(path)?,
        };
        let range = match part {
            Part::All if size > *limit => {
                return Err(StorageError::OverLimit { path: self.describe(path), size, limit: *limit });
            }
            Part::All => 0..size,
            Part::Last(len) => size.saturating_sub(*len)..size,
            Part::Range { range, .. } => range.clone(),
        };
        let file = self.file(path, size)?;
        let need = range.end.saturating_sub(range.start);
        if need > *limit {
            let (path, offset) = (self.describe(path), range.start);
            return Err(StorageError::RangeOverLimit { path, offset, need, limit: *limit });
        }
        if range.end > size {
            return Err(StorageError::UnexpectedEnd { path: self.describe(path), offset: range.start, need, size });
        }
        let whole = self.whole(path)?;
        let state = self.files.state();
        if state.gone.contains(&whole) {
            return Err(StorageError::NotFound { path: self.describe(path) });
        }
        // Without memory for a range that is not fetched yet.
        if !state.has(&whole, &range) {
            drop(state);
            return Err(self.miss(path, &whole, &range));
        }
        let too_large = || StorageError::TooLarge { path: self.describe(path), size: need };
        let len = usize::try_from(need).map_err(|_| too_large())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| too_large())?;
        while bytes.len() < len {
            let Some(block) = state.block(&whole, range.start + bytes.len() as u64) else {
                drop(state);
                return Err(self.miss(path, &whole, &range));
            };
            bytes.extend_from_slice(&block[..block.len().min(len - bytes.len())]);
        }
        Ok(Fetched { file, start: range.start, bytes, is_cached: false })
    }

    fn fetch(&self, requests: &[Request]) -> Vec<Result<Fetched>> {
        requests.iter().map(|request| self.fetch_one(request)).collect()
    }

    fn kind(&self, path: &str) -> Result<Option<EntryKind>> {
        let whole = self.whole(path)?;
        if whole.is_empty() {
            return self.entries("", path, |entries| entries.map(|_| EntryKind::Folder));
        }
        Ok(self.entry(path, &whole)?.map(|entry| entry.kind))
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        self.files.storage(&self.whole(folder)?)
    }

    fn describe(&self, path: &str) -> String {
        let inner = [&*self.root, path].into_iter().filter(|part| !part.is_empty());
        let name = self.files.name.trim_end_matches('/');
        [name].into_iter().chain(inner).collect::<Vec<_>>().join("/")
    }

    fn create_folder(&self, folder: &str) -> Result<()> {
        Err(self.read_only(folder))
    }

    fn create_new(&self, path: &str, _: &[u8]) -> Result<()> {
        Err(self.read_only(path))
    }

    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        Err(self.read_only(path))
    }

    fn sync_folder(&self, folder: &str) -> Result<()> {
        Err(self.read_only(folder))
    }

    fn remove_file(&self, path: &str) -> Result<()> {
        Err(self.read_only(path))
    }

    fn remove_folder(&self, folder: &str) -> Result<()> {
        Err(self.read_only(folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> (Files, Arc<dyn Storage>) {
        let files = Files::new("https://host/a/");
        let storage = files.storage("").unwrap();
        (files, storage)
    }

    #[test]
    fn missing_parts_are_recorded_together() {
        let (files, storage) = files();
        assert!(storage.list("").is_err() && storage.read("x/f").is_err());
        let folders = vec![String::new(), "x".to_owned()];
        assert_eq!(files.take_needs(), Needs { folders, ranges: Vec::new() });
        files.supply_folder("", Some(vec![Entry::folder("x")]));
        files.supply_folder("x", Some(vec![Entry::file("f", 20 << 20), Entry::file("g", 3)]));
        let requests = [Request::last("x/f", 10), Request::all("x/g", 10), Request::range("x/f", 0..9 << 20, 20 << 20)];
        assert!(storage.fetch(&requests).iter().all(Result::is_err));
        let f = |range: Range<u64>| ("x/f".to_owned(), range);
        let size = 20 << 20;
        let ranges = vec![f(0..8 << 20), f(8 << 20..9 << 20), f(size - 10..size), ("x/g".to_owned(), 0..3)];
        assert_eq!(files.take_needs().ranges, ranges);
        assert!(files.take_needs().is_empty());
    }

    #[test]
    fn reads_join_blocks_until_released() {
        let (files, storage) = files();
        files.supply_folder("", Some(vec![Entry::file("f", 6)]));
        files.supply(1, "f", 0, b"abc".to_vec());
        files.supply(2, "f", 3, b"def".to_vec());
        assert_eq!(storage.read("f").unwrap(), b"abcdef");
        files.release(2);
        assert!(storage.read("f").is_err());
        assert_eq!(files.take_needs().ranges, [("f".to_owned(), 0..6)]);
        let mut two = [0; 2];
        storage.open("f").unwrap().read_into(1, &mut two).unwrap();
        assert_eq!(&two, b"bc");
    }

    #[test]
    fn lost_files_are_not_requested_again() {
        let (files, storage) = files();
        files.supply_folder("", Some(vec![Entry::file("f", 6)]));
        files.supply_gone("f");
        let error = storage.read("f").unwrap_err();
        assert!(error.is_not_found(), "{error}");
        assert_eq!(error.path(), "https://host/a/f");
        assert!(files.take_needs().is_empty());
        files.supply_folder("", None);
        assert!(storage.list("").unwrap_err().is_not_found() && storage.kind("").unwrap().is_none());
    }

    #[test]
    fn hostile_sizes_take_no_memory() {
        let (files, storage) = files();
        files.supply_folder("", Some(vec![Entry::file("f", u64::MAX)]));
        assert!(storage.fetch_one(&Request::all("f", u64::MAX)).is_err());
        assert!(matches!(storage.fetch_one(&Request::all("f", 9)), Err(StorageError::OverLimit { .. })));
        let beyond = storage.fetch_one(&Request::range("f", 5..9, 8));
        assert!(matches!(beyond, Err(StorageError::UnexpectedEnd { .. })));
    }
}
