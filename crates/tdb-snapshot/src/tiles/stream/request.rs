//! Requests for tiles.

/// A request for a tile.
#[derive(Clone, Copy, Debug)]
pub struct TileRequest {
    /// The index of the tile in the fragment.
    pub tile: u64,
    /// The unfiltered size of the tile in bytes.
    pub size: u64,
    /// The file position at which the tiles read next end.
    pub until: u64,
}
