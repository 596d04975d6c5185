//! The first and last coordinates of each tile in global order.

use super::TileValues;

/// The coordinates, in one dimension, of each tile's first and last cell in global order.
///
/// The bounds of all dimensions show whether fragments overlap in global order. Readers can then
/// merge fragments tile by tile instead of cell by cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobalOrderBounds {
    /// The coordinate of each tile's first cell.
    pub mins: TileValues,
    /// The coordinate of each tile's last cell.
    pub maxs: TileValues,
}

impl GlobalOrderBounds {
    /// Returns the coordinates of a tile's first and last cell, or `None` if they are not stored.
    #[must_use]
    pub fn get(&self, tile: u64) -> Option<(&[u8], &[u8])> {
        Some((self.mins.get(tile)?, self.maxs.get(tile)?))
    }
}
