//! Work spread over threads, or done inline.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::monitor::Watch;
use crate::scratch::TileScratch;
use crate::spare::LEFT_CELLS;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tdb_storage::{ReadProfile, StorageError, WriteFile, at_once};
use tdb_types::Limits;

use crate::{Cancelled, Result};

/// The threads of an array, started when the first job is large enough to want them, and the scratch memory that each
/// job borrows. Cloning shares both.
#[derive(Clone, Debug)]
pub struct Workers {
    threads: usize,
    limits: Limits,
    shared: Arc<Shared>,
    /// The query that they work for, if somebody watches it.
    watch: Option<Arc<Watch>>,
}

#[derive(Debug, Default)]
struct Shared {
    pool: OnceLock<Option<ThreadPool>>,
    scratches: Mutex<Vec<TileScratch>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        let scratches = self.scratches.get_mut().map(std::mem::take).unwrap_or_default();
        scratches.into_iter().for_each(|scratch| LEFT_CELLS.give(scratch.cells));
    }
}

/// Jobs that unfilter less than this many bytes in all are done inline: waking threads would cost more.
const WORTH_A_THREAD: u64 = 256 * 1024;

/// As how many bytes a small read counts: of a file in the page cache it takes some ten microseconds, and threads some hundred to begin.
pub const WEIGHT_OF_A_READ: u64 = 2 << 10;

/// As how many bytes it counts to make a file durable, or to read where the tiles of a field lie: that waits, or may be much, so that a few are worth
/// a thread.
pub const WEIGHT_OF_MORE: u64 = 64 << 10;

impl Workers {
    /// `threads` of 0 means as many as the machine has, 1 that everything runs on the caller's thread. Filters keep to the
    /// limits.
    pub fn new(threads: usize, limits: Limits) -> Self {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        Self { threads, limits, shared: Arc::default(), watch: None }
    }

    /// The same threads, working for a query that somebody watches.
    pub fn watched(&self, watch: Watch) -> Self {
        Self { watch: Some(Arc::new(watch)), ..self.clone() }
    }

    /// What runs everything on the caller's thread, which may be one of these.
    pub fn inline(&self) -> Self {
        Self { threads: 1, ..self.clone() }
    }

    /// The query that they work for, if somebody watches it.
    pub fn watch(&self) -> Option<&Watch> {
        self.watch.as_deref()
    }

    /// Ends a query that was cancelled. Jobs need not ask: none begins then.
    ///
    /// # Errors
    /// Somebody has cancelled it.
    pub fn check(&self) -> Result<(), Cancelled> {
        self.watch().map_or(Ok(()), Watch::check)
    }

    /// How many jobs can run at once.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `job` for each item, which together handle about `bytes` bytes; the first error wins.
    pub fn for_each<T: Send, E: From<Cancelled> + Send>(
        &self,
        bytes: u64,
        items: Vec<T>,
        job: impl Fn(T, &mut TileScratch) -> Result<(), E> + Send + Sync,
    ) -> Result<(), E> {
        self.map(bytes, items, job).map(drop)
    }

    /// As [`for_each`](Self::for_each), keeping what the jobs give, in the order of the items.
    pub fn map<T: Send, R: Send, E: From<Cancelled> + Send>(
        &self,
        bytes: u64,
        items: Vec<T>,
        job: impl Fn(T, &mut TileScratch) -> Result<R, E> + Send + Sync,
    ) -> Result<Vec<R>, E> {
        let pool = if items.len() > 1 && bytes >= WORTH_A_THREAD { self.pool() } else { None };
        match pool {
            None => {
                let mut scratch = self.borrow_scratch();
                let results = items
                    .into_iter()
                    .map(|item| self.check().map_err(E::from).and_then(|()| job(item, &mut scratch)))
                    .collect();
                self.return_scratch(scratch);
                results
            }
            Some(pool) => pool.install(|| {
                items
                    .into_par_iter()
                    .with_max_len(1)
                    .map(|item| {
                        self.check()?;
                        let mut scratch = self.borrow_scratch();
                        let result = job(item, &mut scratch);
                        self.return_scratch(scratch);
                        result
                    })
                    .collect()
            }),
        }
    }

    /// Runs jobs that ask a storage for something small, and wait: as many at once as the storage says, whatever the number
    /// of threads that compute; if its answers take no time, as [`map`](Self::map) does.
    pub fn ask<T: Send + Sync, R: Send + Sync, E: From<Cancelled> + Send + Sync>(
        &self,
        profile: ReadProfile,
        items: Vec<T>,
        job: impl Fn(&T) -> Result<R, E> + Send + Sync,
    ) -> Result<Vec<R>, E> {
        if profile.is_remote() {
            let job = |item: &T| self.check().map_err(E::from).and_then(|()| job(item));
            return at_once(profile.in_flight, &items, job).into_iter().collect();
        }
        let weight = items.len() as u64 * WEIGHT_OF_A_READ;
        self.map(weight, items, |item, _| job(&item))
    }

    /// Completes files: as many at once as the storage says, if its answers take long.
    pub fn finish<E: From<Cancelled> + From<StorageError> + Send + Sync>(
        &self,
        profile: ReadProfile,
        files: Vec<Box<dyn WriteFile>>,
    ) -> Result<(), E> {
        if profile.is_remote() {
            let files: Vec<_> = files.into_iter().map(|file| Mutex::new(Some(file))).collect();
            let finish = |file: &Mutex<Option<Box<dyn WriteFile>>>| -> Result<(), E> {
                let file = file.lock().unwrap_or_else(PoisonError::into_inner).take();
                Ok(file.map_or(Ok(()), WriteFile::finish)?)
            };
            return at_once(profile.in_flight, &files, finish).into_iter().collect();
        }
        // To wait for a disk is nothing that takes a processor.
        let weight = files.len() as u64 * WEIGHT_OF_MORE;
        self.for_each(weight, files, |file, _| Ok(file.finish()?))
    }

    /// Runs `job` where rayon's own parallel iterators use this array's threads.
    pub fn install<R: Send>(&self, job: impl FnOnce() -> R + Send) -> R {
        match self.pool() {
            Some(pool) => pool.install(job),
            None => job(),
        }
    }

    /// Runs both, at the same time if there are threads for it, else one after the other.
    pub fn both<A: Send, B: Send>(
        &self,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        match self.pool() {
            Some(pool) => pool.join(first, second),
            None => (first(), second()),
        }
    }

    /// The threads; none if there shall be one only, or the system refuses more.
    pub fn pool(&self) -> Option<&ThreadPool> {
        if self.threads == 1 {
            return None;
        }
        let build = || ThreadPoolBuilder::new().num_threads(self.threads).build().ok();
        self.shared.pool.get_or_init(build).as_ref()
    }

    fn borrow_scratch(&self) -> TileScratch {
        let spare = self.shared.scratches.lock().ok().and_then(|mut spare| spare.pop());
        let scratch =
            spare.unwrap_or_else(|| TileScratch { cells: LEFT_CELLS.take(), ..TileScratch::with_limits(self.limits) });
        TileScratch { watch: self.watch.clone(), ..scratch }
    }

    fn return_scratch(&self, mut scratch: TileScratch) {
        scratch.watch = None;
        if let Ok(mut spare) = self.shared.scratches.lock() {
            spare.push(scratch);
        }
    }
}
