//! Options of exports and imports.

use std::fmt;
use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// Callback with the processed and the total number of cells. Returns `false` to stop.
pub(crate) type Observer = Arc<dyn Fn(u64, u64) -> bool + Send + Sync>;

/// Memory, threads and progress callback.
#[derive(Clone)]
pub(crate) struct Work {
    pub(crate) budget: usize,
    pub(crate) threads: usize,
    pub(crate) observer: Option<Observer>,
}

/// Assumed size in bytes of cells of variable length, unless the fill value is longer.
const VAR_CELL: u64 = 64;

/// Returns the approximate size of a cell in bytes.
pub(crate) fn cell_size(is_var: bool, fill: &[u8]) -> u64 {
    let fill = fill.len() as u64;
    if is_var { fill.max(VAR_CELL) } else { fill }
}

impl Default for Work {
    fn default() -> Self {
        Self { budget: 64 << 20, threads: 0, observer: None }
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").field("budget", &self.budget).field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl Work {
    /// Reports progress.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the observer stops the operation.
    pub(crate) fn done(&self, cells: u64, of: u64) -> Result<()> {
        match &self.observer {
            Some(observer) if !observer(cells, of) => Err(Error::Stopped),
            _ => Ok(()),
        }
    }

    /// Returns the maximum number of cells per box, given the size of a cell. A box takes a quarter
    /// of the budget, because its cells also exist as chunks for a while.
    pub(crate) fn cells_of_box(&self, cell: u64) -> u64 {
        (self.budget as u64 / 4 / cell.max(1)).max(1)
    }

    /// Creates the thread pool. Returns `None` to run on the calling thread.
    pub(crate) fn pool(&self) -> Result<Option<ThreadPool>> {
        if self.threads == 1 {
            return Ok(None);
        }
        let pool = ThreadPoolBuilder::new().num_threads(self.threads).build();
        // Without a pool, the calling thread does the work.
        Ok(pool.ok())
    }
}

/// Processes items in parallel.
pub(crate) fn each<T: Sync, R: Send>(
    pool: Option<&ThreadPool>,
    items: &[T],
    job: impl Fn(&T) -> Result<R> + Sync + Send,
) -> Result<Vec<R>> {
    use rayon::prelude::*;
    match pool {
        None => items.iter().map(job).collect(),
        Some(pool) => pool.install(|| items.par_iter().map(job).collect()),
    }
}
