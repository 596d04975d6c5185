//! An array's threads for readers of whole tiles.

use tdb_cells::{Monitor, Watch, Workers};
use tdb_fragment::FragmentField;

use super::Snapshot;
use crate::fragment::TileReader;
use crate::{Fragment, Result};

/// The threads of an array, for reading [stored tiles](crate::StoredTiles) under a monitor.
#[derive(Clone, Debug)]
pub struct TileWorkers {
    workers: Workers,
}

impl Snapshot {
    /// Returns the array's threads. `monitor` can cancel the jobs on these threads, and receives
    /// their progress.
    #[must_use]
    pub fn tile_workers(&self, monitor: &Monitor) -> TileWorkers {
        TileWorkers { workers: self.workers().watched(Watch::new(monitor)) }
    }
}

impl TileWorkers {
    /// Announces to the monitor that all tiles of a fragment will be read.
    pub fn plan(&self, fragment: &Fragment) {
        let Some(watch) = self.workers.watch().filter(|watch| watch.wants_plan()) else { return };
        let fields = fragment.footer().slots().iter();
        let files = fields.flat_map(|field: FragmentField| fragment.files_of(field));
        watch.plan(fragment.tile_count(), files.map(|(_, path, size)| (path, std::iter::once(0..size).collect())));
    }

    /// Runs a job for each item, and returns the results in the order of the items. Uses several
    /// threads if the items read many `bytes` in total.
    ///
    /// # Errors
    /// The error of a failed job, or [`ArrayError::Cancelled`](crate::ArrayError::Cancelled).
    pub fn map<T: Send, R: Send>(
        &self,
        bytes: u64,
        items: Vec<T>,
        job: impl Fn(T, &mut TileReader<'_>) -> Result<R> + Send + Sync,
    ) -> Result<Vec<R>> {
        self.workers.map(bytes, items, |item, scratch| job(item, &mut TileReader::new(scratch)))
    }

    /// Returns an error if the monitor was cancelled.
    ///
    /// # Errors
    /// [`ArrayError::Cancelled`](crate::ArrayError::Cancelled) after cancellation.
    pub fn check(&self) -> Result<()> {
        Ok(self.workers.check()?)
    }

    /// Announces to the monitor that the rest of the plan will not be read.
    pub fn finish(&self) {
        if let Some(watch) = self.workers.watch() {
            watch.finish();
        }
    }
}
