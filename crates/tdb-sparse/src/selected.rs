//! Tiles that a query has to look at.

/// A tile that may hold wanted cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SelectedTile {
    pub(super) tile: u64,
    pub(super) cells: u32,
    /// Whether the whole of it lies in the region.
    pub(super) full: bool,
    /// How many of its wanted cells, the first ones as they are stored, aren't wanted any more.
    pub(super) given: u32,
    /// Which parts of the query's condition all of its cells are known to fulfil: a bit for each of the first 64.
    pub(super) passes: u64,
}

impl SelectedTile {
    /// Whether all of its cells are known to fulfil this part of the query's condition.
    pub(super) fn passes(&self, part: usize) -> bool {
        u32::try_from(part).is_ok_and(|part| self.passes.checked_shr(part).unwrap_or(0) & 1 != 0)
    }
}

/// Tiles, each with the index of its source.
pub(super) type Tiles = Vec<(usize, SelectedTile)>;
