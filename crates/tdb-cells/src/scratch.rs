//! Reusable memory for tiles.

use std::sync::Arc;

use tdb_filters::Scratch;
use tdb_types::{Buffer, Limits};

use crate::buffers::CellBuffers;
use crate::monitor::Watch;

/// Memory of a worker, reused from tile to tile.
#[derive(Debug, Default)]
pub struct TileScratch {
    /// Memory of the filters.
    pub filters: Scratch,
    /// The stored bytes of a tile.
    pub filtered: Vec<u8>,
    /// The unfiltered bytes of a tile or of several chunks.
    pub tile: Buffer,
    /// The unfiltered cells of a tile.
    pub cells: CellBuffers,
    /// The selection mask over the cells of a tile.
    pub mask: Vec<bool>,
    /// The monitored query, if the job belongs to one.
    pub watch: Option<Arc<Watch>>,
}

impl TileScratch {
    /// Creates empty memory with limits for the filters.
    pub fn with_limits(limits: Limits) -> Self {
        Self { filters: Scratch::with_limits(limits), ..Self::default() }
    }
}
