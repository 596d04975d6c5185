//! How rows are read and written.

use tdb_array::Names;
use tdb_schema::ArrayDefinition;

use super::source::{Source, Target};

/// Rejected rows that are reported one by one.
pub(super) const MAX_REPORTED: u64 = 20;

/// How rows are to be understood.
pub(crate) struct Reading {
    pub(crate) source: Source,
    /// Whether columns without a field are passed over.
    pub(crate) ignore_others: bool,
    /// Whether rows that can't be imported are left out, and not a reason to import none.
    pub(crate) skip_rejects: bool,
}

/// What was written.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    pub(crate) cells: u64,
    pub(crate) fragments: usize,
}

/// How to write.
#[derive(Debug)]
pub(crate) struct Writing {
    pub(crate) names: Names,
    /// Whether of rows with equal coordinates the last one counts.
    pub(crate) keep_last: bool,
    /// Bytes of cells to gather before they are written.
    pub(crate) budget: usize,
}

impl Reading {
    pub(super) fn target<'a>(&self, definition: &'a ArrayDefinition) -> Target<'a> {
        Target { definition, ignore_others: self.ignore_others }
    }
}
