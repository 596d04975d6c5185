//! Facts about the coordinates of a tile, for the comparison with stored facts and with the next
//! tile.

use tdb_array::tdb_rtree::NdRange;

use super::statistics::TileFacts;

/// Order of consecutive cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OrderFound {
    /// Each cell comes after the previous cell.
    Ascending,
    /// Some cells have the same coordinates as the previous cell, although duplicates are not
    /// allowed.
    WithEqual,
    /// Some cells come before the previous cell.
    None,
}

/// Facts about the coordinates of a tile.
#[derive(Debug)]
pub(super) struct TileCoordinates {
    /// Statistics along each dimension.
    pub(super) facts: Vec<TileFacts>,
    /// MBR of the cells.
    pub(super) mbr: NdRange,
    /// Order of the cells.
    pub(super) order: OrderFound,
    /// Coordinates of the first and the last cell, by dimension. Empty for a tile without cells.
    pub(super) ends: Vec<[Vec<u8>; 2]>,
}
