//! How rows are read and written.

use tdb_array::Names;
use tdb_schema::ArrayDefinition;

use super::source::{Source, Target};

/// Rejected rows that are reported one by one.
pub(super) const MAX_REPORTED: u64 = 20;

/// Bytes of cells that are gathered, unless something else is said.
const BUDGET: usize = 256 << 20;

/// An import of rows into an array: [`definition`](Self::definition) of a new one, [`check`](Self::check), [`write`](Self::write).
#[derive(Debug)]
#[non_exhaustive]
pub struct Import {
    /// Where rows come from.
    pub source: Source,
    /// Whether columns without a field are passed over.
    pub ignore_others: bool,
    /// Whether rows that can't be imported are left out, and not a reason to import none.
    pub skip_rejects: bool,
    /// Whether of rows with equal coordinates the last one counts.
    pub keep_last: bool,
    /// Where the names of new files come from.
    pub names: Names,
    /// Bytes of cells to gather before they are written, each time as a fragment.
    pub budget: usize,
}

impl Import {
    /// An import that passes over nothing, and takes up to 256 MiB.
    #[must_use]
    pub fn new(source: Source) -> Self {
        let (ignore_others, skip_rejects, keep_last) = (false, false, false);
        Self { source, ignore_others, skip_rejects, keep_last, names: Names::new(), budget: BUDGET }
    }

    pub(super) fn target<'a>(&self, definition: &'a ArrayDefinition) -> Target<'a> {
        Target { definition, ignore_others: self.ignore_others }
    }
}
