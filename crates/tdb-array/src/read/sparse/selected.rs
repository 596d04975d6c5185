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
}

/// Tiles, each with the index of its source.
pub(super) type Tiles = Vec<(usize, SelectedTile)>;
