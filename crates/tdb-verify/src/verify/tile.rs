//! Facts about the coordinates of a tile, kept until comparison with stored facts and the next
//! tile.

use tdb_array::tdb_rtree::NdRange;

use super::statistics::TileFacts;

/// Order of consecutive cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OrderFound {
    /// Each cell comes after the previous one.
    Ascending,
    /// Some coordinates repeat although duplicates are not allowed.
    WithEqual,
    /// Some cells come before the previous one.
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
    /// First and last cell along each dimension.
    pub(super) ends: Vec<[Vec<u8>; 2]>,
}
