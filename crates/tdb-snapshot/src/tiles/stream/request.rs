//! Requests for tiles.

/// A request for a tile.
#[derive(Clone, Copy, Debug)]
pub struct TileRequest {
    /// The index of the tile in the fragment.
    pub tile: u64,
    /// The unfiltered size of the tile in bytes.
    pub size: u64,
    /// The end, in the file, of the tiles that the caller reads next. Bytes up to this position may
    /// be read ahead.
    pub until: u64,
}
