//! What metadata says of cells.

use crate::total::Total;

/// What is known of some cells without a look at them. What isn't measured needn't be known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellStatistics<'a> {
    /// How many cells there are.
    pub cells: u64,
    /// How many of them are null.
    pub nulls: u64,
    /// The sum of the others, if there are any.
    pub total: Option<Total>,
    /// The least and the greatest of the others, if there are any, in little-endian bytes.
    pub bounds: Option<(&'a [u8], &'a [u8])>,
}
