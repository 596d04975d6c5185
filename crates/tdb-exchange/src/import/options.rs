//! Options of an import.

use tdb_array::WriteIds;
use tdb_schema::ArrayDefinition;

use super::source::{Source, Target};

/// Number of rejected rows to report individually.
pub(super) const MAX_REPORTED: u64 = 20;

/// Default budget in bytes.
const BUDGET: usize = 256 << 20;

/// An import of rows into an array. [`definition`](Self::definition) describes a new array,
/// [`check`](Self::check) is the first pass, and [`write`](Self::write) the second.
#[derive(Debug)]
#[non_exhaustive]
pub struct Import {
    /// The source of the rows.
    pub source: Source,
    /// `true` to skip columns without a field.
    pub ignore_others: bool,
    /// `true` to skip rows that cannot be imported. If `false`, the import fails because of such
    /// rows.
    pub skip_rejects: bool,
    /// `true` to keep only the last of the rows with equal coordinates.
    pub keep_last: bool,
    /// The source of names of new files.
    pub names: WriteIds,
    /// Memory limit in bytes for parsed rows. The import writes a fragment when its rows reach this
    /// limit.
    pub budget: usize,
}

impl Import {
    /// Creates an import that skips no row and no column, with a budget of 256 MiB.
    #[must_use]
    pub fn new(source: Source) -> Self {
        let (ignore_others, skip_rejects, keep_last) = (false, false, false);
        Self { source, ignore_others, skip_rejects, keep_last, names: WriteIds::new(), budget: BUDGET }
    }

    pub(super) fn target<'a>(&self, definition: &'a ArrayDefinition) -> Target<'a> {
        Target { definition, ignore_others: self.ignore_others }
    }
}
