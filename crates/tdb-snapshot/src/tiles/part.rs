//! One file of a field: where its tiles lie, and their filters.

use std::ops::Range;
use std::sync::Arc;

use tdb_filters::{BoundPipeline, FilterError};
use tdb_storage::ReadAt;
use tdb_types::memory_len;

use crate::{ArrayError, Result};

/// One of the up to three files of a field.
#[derive(Debug)]
pub struct PartTiles {
    /// The open file.
    pub file: Arc<dyn ReadAt>,
    /// The whole path, for messages.
    pub path: String,
    /// The path below the array's folder.
    pub name: String,
    /// Where tile `i` lies in the file: from `offsets[i]` to `offsets[i + 1]`; ascending, ending within the file.
    pub(crate) offsets: Arc<[u64]>,
    /// The filters of its tiles.
    pub pipeline: BoundPipeline,
}

impl PartTiles {
    /// Where the tile lies in the file.
    pub fn range(&self, tile: u64) -> Result<Range<u64>> {
        let bounds = usize::try_from(tile).ok().and_then(|tile| self.offsets.get(tile..tile + 2));
        match bounds {
            Some([start, end]) => Ok(*start..*end),
            _ => Err(ArrayError::Corrupt { file: self.path.clone(), what: format!("there is no tile {tile}") }),
        }
    }

    /// The error of a tile that cannot be unfiltered.
    #[cold]
    pub fn error(&self, tile: u64, name: &str, source: FilterError) -> ArrayError {
        ArrayError::Tile { file: self.path.clone(), field: name.to_owned(), tile, source: Box::new(source) }
    }
}

/// Bytes of an unfiltered tile as a length in memory, if it keeps to the limit.
pub fn tile_len(what: &'static str, size: u64, limit: u64) -> Result<usize, FilterError> {
    let len = memory_len(size).filter(|_| size <= limit);
    len.ok_or(FilterError::LimitExceeded { what, asked: size, max: limit })
}
