#![doc = include_str!("../README.md")]

// This crate handles the cells during consolidation: it merges fragments into new, uncommitted
// fragments. The caller decides which fragments may be consolidated, and in which order files
// become visible. Consolidation can lose a part of the array's history, which the caller must
// accept.

mod copied;
mod copy;
mod dense;
mod join;
mod sparse;

pub use copy::{FragmentCopy, copy_delete};
pub use join::{ConsolidatedFragments, FragmentJoin, TileCounts};
use tdb_snapshot::{ArrayError, FragmentEntry, Result, Snapshot};
use tdb_types::TimestampedName;
pub use tdb_write::FragmentPlace as NewFragmentPlace;
use tdb_write::WriteIds;

impl FragmentJoin {
    /// Prepares to consolidate the given fragments of this snapshot. To consolidate all fragments
    /// of the array, [reopen](Snapshot::reopened) the snapshot first.
    ///
    /// # Errors
    /// `fragments` is empty, or a fragment does not belong to the snapshot.
    pub fn new(array: &Snapshot, fragments: &[TimestampedName]) -> Result<Self> {
        let wanted = |entry: &&FragmentEntry| fragments.contains(&entry.name);
        let entries: Vec<FragmentEntry> = array.directory().fragments.iter().filter(wanted).cloned().collect();
        if let Some(missing) = fragments.iter().find(|name| !entries.iter().any(|entry| entry.name == **name)) {
            return Err(ArrayError::Write(format!("fragment {missing} does not belong to the array")));
        }
        let start = entries.iter().map(|entry| entry.name.start()).min();
        // The maximum end, because a reader at an earlier time must not see the new fragment.
        let end = entries.iter().map(|entry| entry.name.end()).max();
        let (Some(start), Some(end)) = (start, end) else {
            return Err(ArrayError::Write("no fragments to consolidate".to_owned()));
        };
        let array = array.restricted_to(entries);
        let names = WriteIds::new().over(start, end);
        Ok(Self::of(array, (start, end), names))
    }

    /// Reads the cells and writes them into new, uncommitted fragments.
    ///
    /// # Errors
    /// The fragments have no cells, sparse fragments have repeated coordinates that the array does
    /// not allow, the requested version is not supported, or a file cannot be read or written. The
    /// new files are then removed as far as possible.
    pub fn write(self) -> Result<ConsolidatedFragments> {
        if self.array.schema().is_dense() { dense::join(&self) } else { sparse::join(&self) }
    }
}
