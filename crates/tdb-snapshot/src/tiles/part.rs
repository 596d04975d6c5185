//! Data files of a field, with tile offsets and filters.

use std::ops::Range;
use std::sync::Arc;

use tdb_filters::{BoundPipeline, FilterError};
use tdb_storage::ReadAt;
use tdb_types::memory_len;

use crate::{ArrayError, Result};

/// A data file of a field. A field has up to three.
#[derive(Debug)]
pub struct PartTiles {
    /// The open file.
    pub file: Arc<dyn ReadAt>,
    /// The full path, for messages.
    pub path: String,
    /// The path below the array's folder.
    pub name: String,
    /// Tile `i` spans `offsets[i]..offsets[i + 1]` of the file. Ascending, and ending within the
    /// file.
    pub(crate) offsets: Arc<[u64]>,
    /// The filters of the tiles.
    pub pipeline: BoundPipeline,
}

impl PartTiles {
    /// Returns the range of the tile in the file.
    ///
    /// # Errors
    /// The tile does not exist.
    pub fn range(&self, tile: u64) -> Result<Range<u64>> {
        let bounds = usize::try_from(tile).ok().and_then(|tile| self.offsets.get(tile..tile + 2));
        match bounds {
            Some([start, end]) => Ok(*start..*end),
            _ => Err(ArrayError::Corrupt { file: self.path.clone(), what: format!("tile {tile} does not exist") }),
        }
    }

    /// Returns the error for a tile that cannot be unfiltered.
    #[cold]
    pub fn error(&self, tile: u64, name: &str, source: FilterError) -> ArrayError {
        ArrayError::Tile { file: self.path.clone(), field: name.to_owned(), tile, source: Box::new(source) }
    }
}

/// Returns the size of an unfiltered tile as a length in memory.
///
/// # Errors
/// The size exceeds the limit or the address space. `what` names the object in the error.
pub fn tile_len(what: &'static str, size: u64, limit: u64) -> Result<usize, FilterError> {
    let len = memory_len(size).filter(|_| size <= limit);
    len.ok_or(FilterError::LimitExceeded { what, asked: size, max: limit })
}
