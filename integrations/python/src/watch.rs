//! A storage that reports the bytes of a job, and stops it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tdb_array::Monitor;
use tdb_array::tdb_storage::{
    CancelToken, Fetched, ReadAt, ReadProfile, Request, Result, Storage, StorageError, WriteFile, forward_storage,
};

/// A storage under a monitor.
///
/// After a cancellation, reads and appends of files fail, and the job ends as after any failed
/// read. Everything that a job needs to clean up still works: creations and removals of files, and
/// the files of locks and journals.
#[derive(Clone, Debug)]
pub(crate) struct WatchedStorage {
    inner: Arc<dyn Storage>,
    watch: Watch,
}

/// The bytes of a job.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub(crate) monitor: Monitor,
    bytes: Arc<AtomicU64>,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self { monitor: Monitor::new(), bytes: Arc::default() }
    }

    /// Returns the bytes read and written so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    pub(crate) fn storage(&self, inner: Arc<dyn Storage>) -> Arc<dyn Storage> {
        Arc::new(WatchedStorage { inner, watch: self.clone() })
    }

    fn check(&self, path: &str) -> Result<()> {
        let name = path.rsplit('/').next().unwrap_or_default();
        if self.monitor.is_cancelled() && !name.starts_with(".tdb-") {
            let error = io::Error::new(io::ErrorKind::Interrupted, "interrupted");
            return Err(StorageError::from_io(path.to_owned(), error));
        }
        Ok(())
    }

    fn passed(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Relaxed);
    }

    fn file(&self, path: &str, inner: Arc<dyn ReadAt>) -> Arc<dyn ReadAt> {
        Arc::new(WatchedFile { inner, path: path.to_owned(), watch: self.clone() })
    }

    fn fetched(&self, request: &Request, answer: Result<Fetched>) -> Result<Fetched> {
        let fetched = answer?;
        self.passed(fetched.bytes.len());
        let file = self.file(&request.path, fetched.file);
        Ok(Fetched { file, ..fetched })
    }
}

impl Storage for WatchedStorage {
    forward_storage!(|this| this.inner => list, names, profile, kind, file_size, describe, uri, create_folder, create_new, sync_folder, remove_file, remove_files, remove_folder, remove_folders, rename);

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        self.watch.check(path)?;
        Ok(self.watch.file(path, self.inner.open(path)?))
    }

    fn open_sized(&self, path: &str, size: u64) -> Result<Arc<dyn ReadAt>> {
        self.watch.check(path)?;
        Ok(self.watch.file(path, self.inner.open_sized(path, size)?))
    }

    fn fetch_one(&self, request: &Request) -> Result<Fetched> {
        self.watch.check(&request.path)?;
        self.watch.fetched(request, self.inner.fetch_one(request))
    }

    fn fetch(&self, requests: &[Request]) -> Vec<Result<Fetched>> {
        if self.watch.monitor.is_cancelled() {
            return requests.iter().map(|request| self.fetch_one(request)).collect();
        }
        let answers = requests.iter().zip(self.inner.fetch(requests));
        answers.map(|(request, answer)| self.watch.fetched(request, answer)).collect()
    }

    fn fetch_each(&self, requests: &[Request], cancel: &CancelToken, take: &mut dyn FnMut(usize, Result<Fetched>)) {
        self.inner.fetch_each(requests, cancel, &mut |place, answer| {
            if let Some(request) = requests.get(place) {
                take(place, self.watch.check(&request.path).and_then(|()| self.watch.fetched(request, answer)));
            }
        });
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        Ok(self.watch.storage(self.inner.sub(folder)?))
    }

    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        self.watch.check(path)?;
        let (inner, path, watch) = (self.inner.create_file(path)?, path.to_owned(), self.watch.clone());
        Ok(Box::new(WatchedWriter { inner, path, watch }))
    }
}

#[derive(Debug)]
struct WatchedFile {
    inner: Arc<dyn ReadAt>,
    path: String,
    watch: Watch,
}

impl ReadAt for WatchedFile {
    fn size(&self) -> u64 {
        self.inner.size()
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.watch.check(&self.path)?;
        self.inner.read_into(offset, buffer)?;
        self.watch.passed(buffer.len());
        Ok(())
    }

    fn profile(&self) -> ReadProfile {
        self.inner.profile()
    }
}

#[derive(Debug)]
struct WatchedWriter {
    inner: Box<dyn WriteFile>,
    path: String,
    watch: Watch,
}

impl WriteFile for WatchedWriter {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.watch.check(&self.path)?;
        self.inner.append(bytes)?;
        self.watch.passed(bytes.len());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.inner.finish()
    }
}
