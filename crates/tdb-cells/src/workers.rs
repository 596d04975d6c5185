//! Parallel and inline execution of jobs.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::monitor::Watch;
use crate::scratch::TileScratch;
use crate::spare::SPARE_CELLS;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tdb_storage::{ReadProfile, StorageError, WriteFile, at_once};
use tdb_types::Limits;

use crate::{Cancelled, Result};

/// The threads of an array, started by the first large job, and the scratch memory of jobs. Clones
/// share both.
#[derive(Clone, Debug)]
pub struct Workers {
    threads: usize,
    limits: Limits,
    shared: Arc<Shared>,
    /// The monitored query, if any.
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
        scratches.into_iter().for_each(|scratch| SPARE_CELLS.give(scratch.cells));
    }
}

/// Jobs with less work in total run inline, because waking threads would cost more. Work is measured
/// in bytes that Zstandard decompresses in the same time, about a nanosecond each.
const WORTH_WAKING: u64 = 256 << 10;

/// The work for each thread that justifies starting the threads.
const WORTH_STARTING: u64 = 128 << 10;

/// The weight of a small read in bytes. A read from the page cache takes about 10 microseconds.
/// Starting threads takes about 100 microseconds.
pub const WEIGHT_OF_A_READ: u64 = 2 << 10;

/// The weight in bytes of making a file durable, or of reading a field's tile offsets. Both
/// operations take long enough for a few of them to justify threads.
pub const WEIGHT_OF_MORE: u64 = 64 << 10;

impl Workers {
    /// Creates the workers of an array, without starting threads. With 0 `threads`, uses all
    /// threads of the machine. With 1, all jobs run on the caller's thread. Filters observe the
    /// limits.
    pub fn new(threads: usize, limits: Limits) -> Self {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        Self { threads, limits, shared: Arc::default(), watch: None }
    }

    /// Returns workers on the same threads for a monitored query.
    pub fn watched(&self, watch: Watch) -> Self {
        Self { watch: Some(Arc::new(watch)), ..self.clone() }
    }

    /// Returns workers that run all jobs on the caller's thread, possibly a thread of the pool.
    pub fn inline(&self) -> Self {
        Self { threads: 1, ..self.clone() }
    }

    /// Returns the monitored query, if any.
    pub fn watch(&self) -> Option<&Watch> {
        self.watch.as_deref()
    }

    /// Returns an error after cancellation. Jobs need no check, because no job starts after
    /// cancellation.
    ///
    /// # Errors
    /// The query was cancelled.
    pub fn check(&self) -> Result<(), Cancelled> {
        self.watch().map_or(Ok(()), Watch::check)
    }

    /// Returns the maximum number of concurrent jobs.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `job` for each item. `work` is the approximate total work, as the number of bytes that
    /// Zstandard decompresses in the same time (see
    /// [`FilterPipeline::work`](tdb_filters::FilterPipeline::work)). Too little work runs on the
    /// caller's thread.
    ///
    /// # Errors
    /// The error of a failed job, or [`Cancelled`]. If several concurrent jobs fail, returns the
    /// error of one of these jobs.
    pub fn for_each<T: Send, E: From<Cancelled> + Send>(
        &self,
        work: u64,
        items: Vec<T>,
        job: impl Fn(T, &mut TileScratch) -> Result<(), E> + Send + Sync,
    ) -> Result<(), E> {
        self.map(work, items, job).map(drop)
    }

    /// Runs `job` like [`for_each`](Self::for_each), and returns the results in the order of the
    /// items.
    ///
    /// # Errors
    /// The same as [`for_each`](Self::for_each).
    pub fn map<T: Send, R: Send, E: From<Cancelled> + Send>(
        &self,
        work: u64,
        items: Vec<T>,
        job: impl Fn(T, &mut TileScratch) -> Result<R, E> + Send + Sync,
    ) -> Result<Vec<R>, E> {
        let worth = match self.has_started() {
            true => WORTH_WAKING,
            false => WORTH_WAKING.max(WORTH_STARTING.saturating_mul(self.threads as u64)),
        };
        let pool = if items.len() > 1 && work >= worth { self.pool() } else { None };
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

    /// Runs jobs that mostly wait for small storage requests. Returns the results in the order of
    /// the items. On a remote storage, the storage defines the number of concurrent jobs,
    /// independent of the number of threads. On a local storage, runs like [`map`](Self::map).
    ///
    /// # Errors
    /// The same as [`for_each`](Self::for_each).
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

    /// Finishes files. On a remote storage, the storage defines the number of concurrent requests.
    ///
    /// # Errors
    /// The error of a file that cannot be finished. On a local storage, also [`Cancelled`].
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
        // Waiting for a disk needs no processor.
        let weight = files.len() as u64 * WEIGHT_OF_MORE;
        self.for_each(weight, files, |file, _| Ok(file.finish()?))
    }

    /// Runs `job` with the threads of this array as rayon's current pool. Runs `job` on the
    /// caller's thread if there is no pool.
    pub fn install<R: Send>(&self, job: impl FnOnce() -> R + Send) -> R {
        match self.pool() {
            Some(pool) => pool.install(job),
            None => job(),
        }
    }

    /// Runs both jobs, concurrently if there is a thread pool.
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

    /// Returns the thread pool, and starts it on the first call. Returns `None` for a single
    /// thread, or if the system refuses threads.
    pub fn pool(&self) -> Option<&ThreadPool> {
        if self.threads == 1 {
            return None;
        }
        let build = || ThreadPoolBuilder::new().num_threads(self.threads).build().ok();
        self.shared.pool.get_or_init(build).as_ref()
    }

    /// Returns `true` after the start of the threads.
    pub fn has_started(&self) -> bool {
        self.shared.pool.get().is_some_and(Option::is_some)
    }

    fn borrow_scratch(&self) -> TileScratch {
        let spare = self.shared.scratches.lock().ok().and_then(|mut spare| spare.pop());
        let scratch =
            spare.unwrap_or_else(|| TileScratch { cells: SPARE_CELLS.take(), ..TileScratch::with_limits(self.limits) });
        TileScratch { watch: self.watch.clone(), ..scratch }
    }

    fn return_scratch(&self, mut scratch: TileScratch) {
        scratch.watch = None;
        if let Ok(mut spare) = self.shared.scratches.lock() {
            spare.push(scratch);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{self, ThreadId};

    use super::*;

    /// Runs jobs of `work` in total. Returns their threads.
    fn threads_of(workers: &Workers, work: u64) -> Vec<ThreadId> {
        workers.map(work, vec![(); 8], |(), _| Ok::<_, Cancelled>(thread::current().id())).unwrap()
    }

    #[test]
    fn little_work_stays_on_the_thread_of_the_caller() {
        let caller = thread::current().id();
        let workers = Workers::new(4, Limits::default());
        assert_eq!(threads_of(&workers, 4 * WORTH_STARTING - 1), [caller; 8]);
        assert!(!workers.has_started());
        assert!(!threads_of(&workers, 4 * WORTH_STARTING).contains(&caller));
        assert!(workers.has_started());
        // Running threads are worth less work.
        assert_eq!(threads_of(&workers, WORTH_WAKING - 1), [caller; 8]);
        assert!(!threads_of(&workers, WORTH_WAKING).contains(&caller));
    }
}
