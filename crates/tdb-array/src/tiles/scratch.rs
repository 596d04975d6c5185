//! Memory of tiles that is used again.

use std::sync::Arc;

use tdb_filters::Scratch;
use tdb_types::{Buffer, Limits};

use super::buffers::CellBuffers;
use crate::monitor::Watch;

/// Memory that a worker reuses from tile to tile.
#[derive(Debug, Default)]
pub(crate) struct TileScratch {
    /// For the filters.
    pub(crate) filters: Scratch,
    /// Bytes of a tile as they lie in the file.
    pub(crate) filtered: Vec<u8>,
    /// Bytes of a tile or of some chunks of it, unfiltered.
    pub(crate) tile: Buffer,
    /// The cells of a tile, to be filtered or unfiltered.
    pub(crate) cells: CellBuffers,
    /// Which cells of a tile are wanted.
    pub(crate) mask: Vec<bool>,
    /// The query that tiles are read for, if somebody watches it.
    pub(crate) watch: Option<Arc<Watch>>,
}

impl TileScratch {
    /// Empty, for filters that keep to the limits.
    pub(crate) fn with_limits(limits: Limits) -> Self {
        Self { filters: Scratch::with_limits(limits), ..Self::default() }
    }
}
