//! Planned reads.

use std::ops::Range;

/// The ranges of a file that will be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// The path of the file.
    pub path: String,
    /// The size of the file, in bytes.
    pub size: u64,
    /// The byte ranges, in ascending order.
    pub ranges: Vec<Range<u64>>,
}
