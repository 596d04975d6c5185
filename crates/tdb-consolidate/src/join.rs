//! The inputs and results of a consolidation.

use std::sync::Arc;

use tdb_rtree::NdRange;
use tdb_snapshot::{ArrayError, Result, Snapshot};
use tdb_types::{FormatVersion, TimestampedName};
use tdb_write::{FragmentPlace, SealedFragment, Target, WriteIds, Written};

/// A consolidation of fragments, created by [`FragmentJoin::new`].
#[derive(Clone, Debug)]
#[must_use = "nothing is written before `write`"]
pub struct FragmentJoin {
    /// Snapshot of the fragments to consolidate or copy.
    pub(super) array: Snapshot,
    /// Minimum start and maximum end of the fragments' time ranges. Unused in copies of dense
    /// cells.
    pub(super) times: (u64, u64),
    pub(super) names: WriteIds,
    pub(super) budget: usize,
    pub(super) max_fragment_size: Option<u64>,
    /// Cells deleted up to this time are dropped.
    pub(super) purge: Option<u64>,
    /// Requested version of the new fragments.
    pub(super) version: Option<FormatVersion>,
    /// Subarray to copy from a dense array. `None` for all cells.
    pub(super) within: Option<NdRange>,
    /// Destination array, if different from the source.
    pub(super) into: Option<Snapshot>,
}

/// New, uncommitted fragments. [`commit`](Self::commit) makes the fragments visible. If the value
/// is dropped without a commit, the fragments are removed.
#[derive(Debug)]
pub struct ConsolidatedFragments {
    pub(super) target: Arc<Target>,
    pub(super) names: WriteIds,
    pub(super) sealed: Vec<SealedFragment>,
    pub(super) cells: u64,
    pub(super) tiles: TileCounts,
}

/// Number of tiles in new fragments. The tiles of each field count separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TileCounts {
    /// Total number of written tiles.
    pub written: u64,
    /// Number of tiles copied in filtered form, without unfiltering.
    pub copied: u64,
}

impl FragmentJoin {
    /// Default memory limit for cells: 64 MiB.
    pub const DEFAULT_BUDGET: usize = 64 << 20;

    /// Creates a consolidation of all fragments of a snapshot, with default options.
    pub(super) fn of(array: Snapshot, times: (u64, u64), names: WriteIds) -> Self {
        Self {
            array,
            times,
            names,
            budget: Self::DEFAULT_BUDGET,
            max_fragment_size: None,
            purge: None,
            version: None,
            within: None,
            into: None,
        }
    }

    /// Sets the source of the unique parts of names. The timestamps in the names are always the
    /// time range of the consolidated fragments.
    pub fn ids(mut self, ids: WriteIds) -> Self {
        self.names = ids.over(self.times.0, self.times.1);
        self
    }

    /// Sets the approximate memory limit for cells in bytes. Defaults to 64 MiB.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.budget = bytes.max(1);
        self
    }

    /// Limits the size of new fragments. A new fragment begins before the data files of the current
    /// fragment exceed this number of bytes. A sparse fragment has at least one tile, and a dense
    /// fragment at least one slice of tiles. The size of the next slice is an estimate, so a dense
    /// fragment can exceed the limit.
    pub fn max_fragment_size(mut self, bytes: u64) -> Self {
        self.max_fragment_size = Some(bytes);
        self
    }

    /// Drops cells that delete commits have deleted up to the current time. Unless the array allows
    /// duplicates, also drops all older cells with the same coordinates. Has no effect on dense
    /// arrays.
    ///
    /// # Errors
    /// The clock is not available.
    pub fn purge(mut self) -> Result<Self> {
        self.purge = Some(self.array.access().environment.now()?);
        Ok(self)
    }

    /// Sets the format version of the new fragments. See
    /// [`Write::version`](tdb_write::Write::version).
    pub fn version(mut self, version: FormatVersion) -> Self {
        self.version = Some(version);
        self
    }

    /// Returns the array that receives the new fragments.
    pub(super) fn destination(&self) -> &Snapshot {
        self.into.as_ref().unwrap_or(&self.array)
    }

    /// Returns the subarray to copy, or else the non-empty domain of the fragments.
    pub(super) fn domain(&self) -> Result<NdRange> {
        let domain = match &self.within {
            Some(within) => Some(within.clone()),
            None => self.array.non_empty_domain()?,
        };
        domain.ok_or_else(|| ArrayError::Write("the fragments to consolidate have no cells".to_owned()))
    }
}

impl ConsolidatedFragments {
    /// Returns the locations of the new fragments. The list is empty if no cell is left.
    #[must_use]
    pub fn fragments(&self) -> Vec<FragmentPlace> {
        self.sealed.iter().map(|sealed| sealed.place().clone()).collect()
    }

    /// Returns the format version of the new fragments.
    #[must_use]
    pub fn version(&self) -> FormatVersion {
        self.target.version
    }

    /// Returns a unique name with the time range of the new fragments.
    ///
    /// # Errors
    /// The clock or random bytes are not available.
    pub fn unused_name(&self) -> Result<TimestampedName> {
        self.names.next(TimestampedName::form_of_fragments(self.target.version), self.target.environment())
    }

    /// Returns the number of written cells.
    #[must_use]
    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// Returns the number of written tiles.
    #[must_use]
    pub fn tiles(&self) -> TileCounts {
        self.tiles
    }

    /// Commits the new fragments. From format 12 on, the commit is atomic. Before format 12, the
    /// fragments are committed one by one.
    ///
    /// # Errors
    /// The storage fails, or the clock or random bytes are not available. No fragment is then
    /// committed, unless the storage has created the commit file despite the error. Before format
    /// 12, the first fragments may be committed.
    pub fn commit(self) -> Result<Written> {
        let fragments = SealedFragment::commit_all(self.sealed, (&self.names, self.target.environment()))?;
        Ok(Written { fragments, cells: self.cells })
    }
}
