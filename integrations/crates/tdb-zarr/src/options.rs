//! What exports and imports have in common.

use std::fmt;
use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// Hears how many of how many cells are done, and says whether to go on.
pub(crate) type Observer = Arc<dyn Fn(u64, u64) -> bool + Send + Sync>;

/// How much memory and how many threads to use, and who is told how far it is.
#[derive(Clone)]
pub(crate) struct Work {
    pub(crate) budget: usize,
    pub(crate) threads: usize,
    pub(crate) observer: Option<Observer>,
}

/// Cells of any length are taken for so long where room is made for them, unless the fill value is longer.
const VAR_CELL: u64 = 64;

/// About how many bytes a cell takes.
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
    /// Says how many of how many cells are done.
    ///
    /// # Errors
    /// Nobody wants the rest.
    pub(crate) fn done(&self, cells: u64, of: u64) -> Result<()> {
        match &self.observer {
            Some(observer) if !observer(cells, of) => Err(Error::Stopped),
            _ => Ok(()),
        }
    }

    /// How many cells a box may have whose cells have so many bytes: it is there twice for a while, once as chunks.
    pub(crate) fn cells_of_box(&self, cell: u64) -> u64 {
        (self.budget as u64 / 4 / cell.max(1)).max(1)
    }

    /// The threads that chunks are packed and unpacked by; none if everything is to run in this one.
    pub(crate) fn pool(&self) -> Result<Option<ThreadPool>> {
        if self.threads == 1 {
            return Ok(None);
        }
        let pool = ThreadPoolBuilder::new().num_threads(self.threads).build();
        // Without threads there is this one.
        Ok(pool.ok())
    }
}

/// Does something to each item, by as many threads as there are.
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
