#![doc = include_str!("../README.md")]

// Joining fragments: the cells of several go into new ones, which nobody sees before they are committed.
//
// This is the part of consolidation that has to do with cells. Which fragments may be joined, in which order files become
// visible, and what of the array's past is then lost is decided by those who ask for it.

mod copied;
mod copy;
mod dense;
mod join;
mod sparse;

pub use copy::{FragmentCopy, copy_delete};
pub use join::{Join, Joined, NewFragmentPlace, TileCounts};
use tdb_snapshot::{ArrayError, FragmentEntry, Result, Snapshot};
use tdb_types::TimestampedName;
use tdb_write::Names;

impl Join {
    /// Begins to join some of the fragments that this array shows. For all that there is, it is to be
    /// [reopened](Snapshot::reopened) before.
    ///
    /// # Errors
    /// A fragment isn't there.
    pub fn new(array: &Snapshot, fragments: &[TimestampedName]) -> Result<Self> {
        let wanted = |entry: &&FragmentEntry| fragments.contains(&entry.name);
        let entries: Vec<FragmentEntry> = array.directory().fragments.iter().filter(wanted).cloned().collect();
        if let Some(missing) = fragments.iter().find(|name| !entries.iter().any(|entry| entry.name == **name)) {
            return Err(ArrayError::Write(format!("fragment {missing} isn't one of the array")));
        }
        let start = entries.iter().map(|entry| entry.name.start()).min();
        // The greatest, wherever it stands: whoever reads at an earlier time must not see those cells.
        let end = entries.iter().map(|entry| entry.name.end()).max();
        let (Some(start), Some(end)) = (start, end) else {
            return Err(ArrayError::Write("there are no fragments to be joined".to_owned()));
        };
        let array = array.restricted_to(entries);
        let names = Names::new().over(start, end);
        Ok(Self {
            array,
            times: (start, end),
            names,
            budget: Self::DEFAULT_BUDGET,
            max_fragment_size: None,
            purge: None,
            version: None,
            within: None,
            into: None,
        })
    }

    /// Reads the cells and writes them.
    ///
    /// # Errors
    /// Something can't be read or written. Nothing of it is then left, as far as it can be removed.
    pub fn write(self) -> Result<Joined> {
        if self.array.schema().is_dense() { dense::join(&self) } else { sparse::join(&self) }
    }
}
