//! Fragments to be joined, and those that came of it.

use std::sync::Arc;

use tdb_rtree::NdRange;
use tdb_snapshot::{ArrayError, Result, Snapshot};
use tdb_types::{FormatVersion, TimestampedName};
use tdb_write::{FragmentPlace, Names, SealedFragment, Target, Written};

/// Fragments to be joined, made by [`Join::new`].
#[derive(Clone, Debug)]
#[must_use = "nothing is written before `write`"]
pub struct Join {
    /// With these fragments alone.
    pub(super) array: Snapshot,
    /// When the first and the last of them was written.
    pub(super) times: (u64, u64),
    pub(super) names: Names,
    pub(super) budget: usize,
    pub(super) max_fragment_size: Option<u64>,
    /// Cells deleted until then are left out.
    pub(super) purge: Option<u64>,
    /// Of the new fragments, if it was asked for.
    pub(super) version: Option<FormatVersion>,
    /// The cells of a dense array that are wanted, if not all.
    pub(super) within: Option<NdRange>,
    /// Where the new fragments go, if that isn't the array that they come from.
    pub(super) into: Option<Snapshot>,
}

/// Fragments that were written, and that nobody sees before [`commit`](Self::commit). Dropped before, they are removed.
#[derive(Debug)]
pub struct Joined {
    pub(super) target: Arc<Target>,
    pub(super) names: Names,
    pub(super) sealed: Vec<SealedFragment>,
    pub(super) cells: u64,
    pub(super) tiles: TileCounts,
}

/// How many tiles of fields new fragments have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TileCounts {
    /// All that were written.
    pub written: u64,
    /// Those among them that were copied as they were stored, without unfiltering them.
    pub copied: u64,
}

/// Where a new fragment lies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewFragmentPlace {
    /// Its name.
    pub name: TimestampedName,
    /// The path of its folder below the array's.
    pub folder: String,
    /// The path of the file that commits it alone; `None` before format 5.
    pub commit: Option<String>,
}

impl Join {
    /// How many bytes cells may take in memory unless somebody says otherwise: 64 MiB.
    pub const DEFAULT_BUDGET: usize = 64 << 20;

    /// What makes the names of the new fragments unique; their times are those of the fragments that are joined.
    pub fn names(mut self, names: Names) -> Self {
        self.names = names.over(self.times.0, self.times.1);
        self
    }

    /// About how many bytes cells may take in memory on their way; by default 64 MiB.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.budget = bytes.max(1);
        self
    }

    /// Begin another fragment before the data files of one take more bytes than this. Each has at least one tile, and in a
    /// dense array one slice of tiles.
    pub fn max_fragment_size(mut self, bytes: u64) -> Self {
        self.max_fragment_size = Some(bytes);
        self
    }

    /// Leaves out cells that are deleted by now, and the older cells of the same coordinates.
    ///
    /// # Errors
    /// The clock can't be read.
    pub fn purge(mut self) -> Result<Self> {
        self.purge = Some(self.array.access().environment.now()?);
        Ok(self)
    }

    /// The format version of the new fragments; see [`Write::version`](tdb_write::Write::version).
    pub fn version(mut self, version: FormatVersion) -> Self {
        self.version = Some(version);
        self
    }

    /// The array that gets the new fragments.
    pub(super) fn destination(&self) -> &Snapshot {
        self.into.as_ref().unwrap_or(&self.array)
    }

    /// The smallest box around all cells of the fragments, or the one that is wanted.
    pub(super) fn domain(&self) -> Result<NdRange> {
        let domain = match &self.within {
            Some(within) => Some(within.clone()),
            None => self.array.non_empty_domain()?,
        };
        domain.ok_or_else(|| ArrayError::Write("the fragments to be joined have no cells".to_owned()))
    }
}

impl Joined {
    /// The new fragments; none if no cell is left.
    #[must_use]
    pub fn fragments(&self) -> Vec<NewFragmentPlace> {
        let place = |sealed: &SealedFragment| {
            let FragmentPlace { name, folder, commit } = sealed.place().clone();
            NewFragmentPlace { name, folder, commit }
        };
        self.sealed.iter().map(place).collect()
    }

    /// The format version of the new fragments.
    #[must_use]
    pub fn version(&self) -> FormatVersion {
        self.target.version
    }

    /// A name that nothing else has, of the same times as the new fragments.
    ///
    /// # Errors
    /// No random bytes.
    pub fn unused_name(&self) -> Result<TimestampedName> {
        self.names.next(TimestampedName::form_of_fragments(self.target.version), self.target.environment())
    }

    /// How many cells were written.
    #[must_use]
    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// How many tiles of fields they have.
    #[must_use]
    pub fn tiles(&self) -> TileCounts {
        self.tiles
    }

    /// Makes the new fragments part of the array: from format 12 on all at once, before one after the other.
    ///
    /// # Errors
    /// Whatever the storage can't do.
    pub fn commit(self) -> Result<Written> {
        let fragments = SealedFragment::commit_all(self.sealed, (&self.names, self.target.environment()))?;
        Ok(Written { fragments, cells: self.cells })
    }
}
