//! Memory of tiles that is used again.

use std::sync::Arc;

use tdb_filters::Scratch;
use tdb_types::{Buffer, Limits};

use crate::buffers::CellBuffers;
use crate::monitor::Watch;

/// Memory that a worker reuses from tile to tile.
#[derive(Debug, Default)]
pub struct TileScratch {
    /// For the filters.
    pub filters: Scratch,
    /// Bytes of a tile as they lie in the file.
    pub filtered: Vec<u8>,
    /// Bytes of a tile or of some chunks of it, unfiltered.
    pub tile: Buffer,
    /// The cells of a tile, to be filtered or unfiltered.
    pub cells: CellBuffers,
    /// Which cells of a tile are wanted.
    pub mask: Vec<bool>,
    /// The query that tiles are read for, if somebody watches it.
    pub watch: Option<Arc<Watch>>,
}

impl TileScratch {
    /// Empty, for filters that keep to the limits.
    pub fn with_limits(limits: Limits) -> Self {
        Self { filters: Scratch::with_limits(limits), ..Self::default() }
    }
}
