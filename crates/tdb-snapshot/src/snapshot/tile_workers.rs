//! The threads of an array, lent to those who read whole tiles.

use tdb_cells::{Monitor, Watch, Workers};
use tdb_fragment::FragmentField;

use super::Snapshot;
use crate::fragment::TileReader;
use crate::{Fragment, Result};

/// The threads of an array, reading [stored tiles](crate::StoredTiles) for somebody who watches them.
#[derive(Clone, Debug)]
pub struct TileWorkers {
    workers: Workers,
}

impl Snapshot {
    /// The array's threads, and what cancels them and is told how far they are.
    #[must_use]
    pub fn tile_workers(&self, monitor: &Monitor) -> TileWorkers {
        TileWorkers { workers: self.workers().watched(Watch::new(monitor)) }
    }
}

impl TileWorkers {
    /// Notes that all tiles of a fragment will be read.
    pub fn plan(&self, fragment: &Fragment) {
        let Some(watch) = self.workers.watch().filter(|watch| watch.wants_plan()) else { return };
        let fields = fragment.footer().slots().iter();
        let files = fields.flat_map(|field: FragmentField| fragment.files_of(field));
        watch.plan(fragment.tile_count(), files.map(|(_, path, size)| (path, std::iter::once(0..size).collect())));
    }

    /// Runs a job for each item, on several threads if they read many `bytes` together, and keeps what the jobs give, in the
    /// order of the items.
    ///
    /// # Errors
    /// The first error of a job; [`ArrayError::Cancelled`](crate::ArrayError::Cancelled).
    pub fn map<T: Send, R: Send>(
        &self,
        bytes: u64,
        items: Vec<T>,
        job: impl Fn(T, &mut TileReader<'_>) -> Result<R> + Send + Sync,
    ) -> Result<Vec<R>> {
        self.workers.map(bytes, items, |item, scratch| job(item, &mut TileReader::new(scratch)))
    }

    /// Ends what somebody has cancelled.
    ///
    /// # Errors
    /// [`ArrayError::Cancelled`](crate::ArrayError::Cancelled), if somebody has.
    pub fn check(&self) -> Result<()> {
        Ok(self.workers.check()?)
    }

    /// Notes that what is left of the plan isn't read.
    pub fn finish(&self) {
        if let Some(watch) = self.workers.watch() {
            watch.finish();
        }
    }
}
