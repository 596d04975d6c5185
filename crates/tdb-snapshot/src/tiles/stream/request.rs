//! A tile to read.

/// A tile to read.
#[derive(Clone, Copy, Debug)]
pub struct TileRequest {
    /// Its index in the fragment.
    pub tile: u64,
    /// Bytes that it has without filters.
    pub size: u64,
    /// How far in the file tiles lie that will be read next.
    pub until: u64,
}
