//! Planned reads.

use std::ops::Range;

/// The ranges of a file to be read, in approximate order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// The path of the file.
    pub path: String,
    /// The size of the file, in bytes.
    pub size: u64,
    /// The byte ranges, ascending.
    pub ranges: Vec<Range<u64>>,
}
