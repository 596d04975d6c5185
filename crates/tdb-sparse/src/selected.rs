//! Candidate tiles of a query.

/// A candidate tile: a tile that may hold matching cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SelectedTile {
    pub(super) tile: u64,
    pub(super) cells: u32,
    /// `true` if the tile is completely inside the region.
    pub(super) full: bool,
    /// Number of matching cells, from the first in stored order, already emitted.
    pub(super) given: u32,
    /// Parts of the query's condition that all cells are known to meet: bit `n` for part `n`, up to
    /// 64 parts.
    pub(super) passes: u64,
}

impl SelectedTile {
    /// Returns `true` if all cells are known to meet this part of the query's condition.
    pub(super) fn passes(&self, part: usize) -> bool {
        u32::try_from(part).is_ok_and(|part| self.passes.checked_shr(part).unwrap_or(0) & 1 != 0)
    }
}

/// Tiles with source indices.
pub(super) type Tiles = Vec<(usize, SelectedTile)>;
