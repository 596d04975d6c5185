//! A tile to read.

/// A tile to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileRequest {
    pub(crate) tile: u64,
    /// Bytes that it has without filters.
    pub(crate) size: u64,
    /// How far in the file tiles lie that will be read next.
    pub(crate) until: u64,
}
