//! Joining fragments: the cells of several go into new ones, which nobody sees before they are committed.
//!
//! This is the part of consolidation that has to do with cells. Which fragments may be joined, in which order files become
//! visible, and what of the array's past is then lost is decided by those who ask for it.

mod dense;
mod sparse;

use std::sync::Arc;

use tdb_rtree::NdRange;
use tdb_types::{FormatVersion, TimestampedName};

use crate::write::{FragmentPlace, SealedFragment, Target};
use crate::{Array, ArrayError, FragmentEntry, Names, Result, Written};

/// How the names of files begin that say what is about to be done with several others. They are temporary files, but
/// [`Array::leftovers`] doesn't count them: whoever goes on removes them.
pub const JOURNAL_PREFIX: &str = ".tdb-journal-";

/// Fragments to be joined, made by [`Array::join`].
#[derive(Clone, Debug)]
#[must_use = "nothing is written before `write`"]
pub struct Join {
    /// With these fragments alone.
    array: Array,
    /// When the first and the last of them was written.
    times: (u64, u64),
    names: Names,
    budget: usize,
    max_fragment_size: Option<u64>,
    /// Cells deleted until then are left out.
    purge: Option<u64>,
}

/// Fragments that were written, and that nobody sees before [`commit`](Self::commit). Dropped before, they are removed.
#[derive(Debug)]
pub struct Joined {
    target: Arc<Target>,
    names: Names,
    sealed: Vec<SealedFragment>,
    cells: u64,
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

impl Array {
    /// Begins to join some of the fragments that this array shows. For all that there is, it is to be
    /// [reopened](Self::reopened) before.
    ///
    /// # Errors
    /// A fragment isn't there.
    pub fn join(&self, fragments: &[TimestampedName]) -> Result<Join> {
        let wanted = |entry: &&FragmentEntry| fragments.contains(&entry.name);
        let entries: Vec<FragmentEntry> = self.directory().fragments.iter().filter(wanted).cloned().collect();
        if let Some(missing) = fragments.iter().find(|name| !entries.iter().any(|entry| entry.name == **name)) {
            return Err(ArrayError::Write(format!("fragment {missing} isn't one of the array")));
        }
        let start = entries.iter().map(|entry| entry.name.start()).min();
        // The greatest, wherever it stands: whoever reads at an earlier time must not see those cells.
        let end = entries.iter().map(|entry| entry.name.end()).max();
        let (Some(start), Some(end)) = (start, end) else {
            return Err(ArrayError::Write("there are no fragments to be joined".to_owned()));
        };
        let array = self.restricted_to(entries);
        let names = Names::new().over(start, end);
        Ok(Join { array, times: (start, end), names, budget: 64 << 20, max_fragment_size: None, purge: None })
    }
}

impl Join {
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

    /// Reads the cells and writes them.
    ///
    /// # Errors
    /// Something can't be read or written. Nothing of it is then left, as far as it can be removed.
    pub fn write(self) -> Result<Joined> {
        if self.array.schema().is_dense() { dense::join(&self) } else { sparse::join(&self) }
    }

    /// The smallest box around all cells of the fragments.
    fn domain(&self) -> Result<NdRange> {
        let domain = self.array.non_empty_domain()?;
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

    /// Makes the new fragments part of the array: from format 12 on all at once, before one after the other.
    ///
    /// # Errors
    /// Whatever the storage can't do.
    pub fn commit(self) -> Result<Written> {
        let fragments = SealedFragment::commit_all(self.sealed, (&self.names, self.target.environment()))?;
        Ok(Written { fragments, cells: self.cells })
    }
}
