//! Statistics of cells from metadata.

use crate::total::Total;

/// Statistics of a set of cells, known without reading the cells. Only measured values must be
/// present.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellStatistics<'a> {
    /// The number of cells.
    pub cells: u64,
    /// The number of null cells.
    pub nulls: u64,
    /// The sum of the non-null cells, if known.
    pub total: Option<Total>,
    /// The minimum and maximum of the non-null cells, in little-endian bytes, if known.
    pub bounds: Option<(&'a [u8], &'a [u8])>,
}
