//! What is kept of the coordinates of a tile until it was compared with what is stored, and with the next one.

use tdb_array::tdb_rtree::NdRange;

use super::statistics::TileFacts;

/// How cells follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OrderFound {
    /// Each comes after the one before it.
    Ascending,
    /// Some are equal that should not be.
    WithEqual,
    /// Some come before the one before them.
    None,
}

/// What the coordinates of a tile give.
#[derive(Debug)]
pub(super) struct TileCoordinates {
    /// The statistics along each dimension.
    pub(super) facts: Vec<TileFacts>,
    /// The smallest box around the cells.
    pub(super) mbr: NdRange,
    /// Whether the cells come in global order.
    pub(super) order: OrderFound,
    /// The bytes of the first and the last cell along each dimension.
    pub(super) ends: Vec<[Vec<u8>; 2]>,
}
