//! What will be read.

use std::ops::Range;

/// The ranges of a file that will be read, about in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// The file.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// The bytes, ascending.
    pub ranges: Vec<Range<u64>>,
}
