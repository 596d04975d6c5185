//! The first and last coordinates of each tile in global order.

use super::TileValues;

/// The coordinates, in one dimension, of the first and the last cell of each tile in global order.
///
/// With those of all dimensions a reader can see whether fragments overlap in global order, and merge them tile by tile
/// instead of cell by cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobalOrderBounds {
    /// The coordinate of each tile's first cell.
    pub mins: TileValues,
    /// The coordinate of each tile's last cell.
    pub maxs: TileValues,
}

impl GlobalOrderBounds {
    /// The coordinates of a tile's first and last cell.
    #[must_use]
    pub fn get(&self, tile: u64) -> Option<(&[u8], &[u8])> {
        Some((self.mins.get(tile)?, self.maxs.get(tile)?))
    }
}
