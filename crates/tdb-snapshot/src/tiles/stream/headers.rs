//! Headers of a tile: the number of chunks, and the size of each chunk.
//!
//! Fragment metadata states the range of a tile in the file. A damaged range may extend to the end
//! of the file, holes included. Therefore the headers of a large tile are checked before the chunks
//! are read.

use std::ops::Range;

use tdb_filters::{ChunkHeader, ChunksAhead, FilterError};

use super::request::TileRequest;
use super::trouble::{Trouble, wrong_size};
use super::window::Window;
use crate::tiles::part::PartTiles;
use crate::{ArrayError, Result};

/// Tiles with at most this stored size in bytes are read without a check of the headers.
const SMALL: u64 = 4 << 20;

/// The position of a walk over the chunks of a tile.
pub(super) struct Walk {
    /// The file position of the next header.
    pub(super) at: u64,
    /// The file position of the tile's end.
    pub(super) end: u64,
    /// The next header, if already read.
    pub(super) header: Option<ChunkHeader>,
    /// The position of the next chunk in the unfiltered tile.
    pub(super) start: u64,
    /// The number of pending bytes before `start` in the chunk buffer.
    pub(super) waiting: usize,
    /// State for the filters of the following chunks.
    pub(super) ahead: ChunksAhead,
}

impl Walk {
    /// Creates a walk from the first chunk of the tile in this range of the file.
    pub(super) fn new(range: &Range<u64>) -> Self {
        let at = range.start + ChunkHeader::COUNT_LEN as u64;
        Self { at, end: range.end, header: None, start: 0, waiting: 0, ahead: ChunksAhead::default() }
    }
}

/// The stored tiles and headers of a data file.
#[derive(Debug)]
pub(super) struct Headers<'a> {
    pub(super) part: &'a PartTiles,
    /// The name of the field, for messages.
    pub(super) name: &'a str,
    /// The maximum size of an unfiltered tile in bytes.
    pub(super) limit: u64,
    pub(super) window: Window<'a>,
}

impl<'a> Headers<'a> {
    /// Creates a reader of headers. `memory` is the buffer for bytes of the file.
    pub(super) fn new(part: &'a PartTiles, name: &'a str, limit: u64, memory: &'a mut Vec<u8>) -> Self {
        Self { part, name, limit, window: Window::new(&*part.file, &part.path, memory) }
    }

    /// Returns an error if the tile exceeds the limit.
    pub(super) fn check_size(&self, request: TileRequest) -> Result<()> {
        let TileRequest { tile, size, .. } = request;
        if size <= self.limit {
            return Ok(());
        }
        let source = FilterError::LimitExceeded { what: "the tile", asked: size, max: self.limit };
        Err(self.part.error(tile, self.name, source))
    }

    /// Returns an error if filters cannot have produced the tile's stored size from `size` bytes
    /// and `offsets` embedded bytes. The headers of a large tile must add up before the tile is
    /// read.
    pub(super) fn check_stored(&mut self, tile: u64, size: u64, offsets: u64) -> Result<()> {
        let range = self.part.range(tile)?;
        let stored = range.end - range.start;
        if stored <= SMALL.max(size.saturating_add(offsets).saturating_mul(4)) {
            return Ok(());
        }
        self.walk_headers(&range, size, offsets).map_err(|trouble| self.error(tile, trouble))
    }

    fn walk_headers(&mut self, range: &Range<u64>, size: u64, offsets: u64) -> Result<(), Trouble> {
        let count = self.count(range, range.start)?;
        check_count(count, size)?;
        let gap = self.part.file.profile().gap;
        let mut walk = Walk::new(range);
        for _ in 0..count {
            let until = walk.at.saturating_add(gap).min(range.end);
            let header = self.header(&mut walk, until)?;
            let end = walk.start + u64::from(header.original);
            if end > size {
                return Err(wrong_size("the unfiltered tile", size, end));
            }
            header.check_payload(offsets, self.limit)?;
            walk.at += ChunkHeader::LEN as u64 + header.payload();
            walk.start = end;
        }
        if walk.at != range.end {
            return Err(wrong_size("the filtered tile", range.end - range.start, walk.at - range.start));
        }
        Ok(())
    }

    /// Returns the number of chunks of the tile.
    pub(super) fn chunk_count(&mut self, tile: u64) -> Result<u64> {
        let range = self.part.range(tile)?;
        let ahead = range.start.saturating_add(self.part.file.profile().gap).min(range.end);
        self.count(&range, ahead).map_err(|trouble| self.error(tile, trouble))
    }

    #[cold]
    pub(super) fn error(&self, tile: u64, trouble: Trouble) -> ArrayError {
        match trouble {
            Trouble::Array(error) => error,
            Trouble::Filter(source) => self.part.error(tile, self.name, source),
        }
    }

    pub(super) fn count(&mut self, range: &Range<u64>, until: u64) -> Result<u64, Trouble> {
        let len = ChunkHeader::COUNT_LEN as u64;
        if range.end - range.start < len {
            return Err(wrong_size("the filtered tile", len, range.end - range.start));
        }
        let bytes = self.window.bytes(range.start..range.start + len, until)?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)))
    }

    pub(super) fn header(&mut self, walk: &mut Walk, until: u64) -> Result<ChunkHeader, Trouble> {
        const LEN: u64 = ChunkHeader::LEN as u64;
        let left = walk.end - walk.at;
        if left < LEN {
            return Err(wrong_size("the filtered tile", walk.at.saturating_add(LEN), walk.end));
        }
        let header = match walk.header.take() {
            Some(header) => header,
            None => {
                let bytes = self.window.bytes(walk.at..walk.at + LEN, until)?;
                ChunkHeader::parse(bytes.first_chunk().unwrap_or(&[0; ChunkHeader::LEN]))
            }
        };
        if left - LEN < header.payload() {
            let end = walk.at.saturating_add(LEN).saturating_add(header.payload());
            return Err(wrong_size("the filtered tile", end, walk.end));
        }
        Ok(header)
    }
}

/// Returns an error if a tile of `size` bytes cannot have `count` chunks.
pub(super) fn check_count(count: u64, size: u64) -> Result<(), Trouble> {
    let most = ChunkHeader::most_in_tile(size);
    if count > most { Err(wrong_size("the chunks of the tile", most, count)) } else { Ok(()) }
}
