//! The framing of a filtered tile: where its chunks lie.
//!
//! | bytes | field |
//! | --- | --- |
//! | `u64` | number of chunks |
//! | per chunk: `u32` | bytes of the chunk in the tile |
//! | `u32` | bytes of data |
//! | `u32` | bytes of metadata |
//! | … | metadata, then data |
//!
//! A tile may have no chunks, and chunks may hold no bytes.

use std::ops::Range;

use tdb_types::{ByteReader, DecodeError};

use crate::FilterError;

/// What stands before each chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHeader {
    /// Bytes of the chunk in the tile.
    pub original: u32,
    /// Bytes of its data.
    pub filtered: u32,
    /// Bytes of its metadata, which come before the data.
    pub metadata: u32,
}

impl ChunkHeader {
    /// Bytes of a header.
    pub const LEN: usize = 12;
    /// Bytes of the number of chunks, which stands before the first header.
    pub const COUNT_LEN: usize = 8;

    /// Reads a header, for readers that walk a tile with small reads.
    #[must_use]
    pub fn parse(bytes: &[u8; Self::LEN]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *bytes;
        Self {
            original: u32::from_le_bytes([a, b, c, d]),
            filtered: u32::from_le_bytes([e, f, g, h]),
            metadata: u32::from_le_bytes([i, j, k, l]),
        }
    }

    /// The header's bytes.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        for (to, from) in bytes.as_chunks_mut::<4>().0.iter_mut().zip([self.original, self.filtered, self.metadata]) {
            *to = from.to_le_bytes();
        }
        bytes
    }

    /// Bytes of metadata and data.
    #[must_use]
    pub fn payload(self) -> u64 {
        u64::from(self.filtered) + u64::from(self.metadata)
    }

    /// Most bytes that a chunk may have as it is stored, for `unfiltered` bytes under a limit on tiles of `tile_bytes`:
    /// filters make what doesn't compress longer, but not as much longer as this, but for contrived chains of them.
    #[must_use]
    pub fn most_payload(unfiltered: u64, tile_bytes: u64) -> u64 {
        /// A filter of windows, each of a single byte, makes seven times its bytes; three of them make 343 times.
        const GROWTH: u64 = 512;
        /// What initialisation vectors, checksums and headers need at most in addition.
        const LEAST: u64 = 64 << 10;
        let most = unfiltered.saturating_mul(GROWTH).min(tile_bytes.saturating_mul(2));
        most.max(LEAST)
    }

    /// Checks that the chunk isn't stored in so many bytes that no filters can have made them of its own; `offsets` are
    /// bytes of offsets that come with those of the tile.
    ///
    /// # Errors
    /// [`ImplausibleChunk`](FilterError::ImplausibleChunk).
    pub fn check_payload(self, offsets: u64, tile_bytes: u64) -> Result<(), FilterError> {
        let unfiltered = u64::from(self.original).saturating_add(offsets);
        let max = Self::most_payload(unfiltered, tile_bytes);
        if self.payload() <= max {
            return Ok(());
        }
        Err(FilterError::ImplausibleChunk { stored: self.payload(), unfiltered, max })
    }

    /// Most chunks that a tile of `unfiltered` bytes may have. Chunks may be empty, but the libraries write one of these at
    /// most, and walking very many of them is work that no bytes of a tile ask for.
    #[must_use]
    pub fn most_in_tile(unfiltered: u64) -> u64 {
        const MOST_EMPTY: u64 = 1024;
        unfiltered.saturating_add(MOST_EMPTY)
    }

    pub(crate) fn read(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            original: reader.u32("original length of the chunk")?,
            filtered: reader.u32("filtered length of the chunk")?,
            metadata: reader.u32("metadata length of the chunk")?,
        })
    }
}

/// Where a chunk lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its metadata, in the filtered tile.
    pub metadata: Range<u64>,
    /// Its data, in the filtered tile.
    pub data: Range<u64>,
    /// Its bytes in the tile.
    pub unfiltered: Range<u64>,
}

impl Chunk {
    /// Where the chunk lies whose header stands at `offset` of the filtered tile and whose first byte is `unfiltered`
    /// of the tile.
    #[must_use]
    pub fn locate(header: ChunkHeader, offset: u64, unfiltered: u64) -> Self {
        let metadata = offset.saturating_add(ChunkHeader::LEN as u64);
        let data = metadata.saturating_add(u64::from(header.metadata));
        Self {
            metadata: metadata..data,
            data: data..data.saturating_add(u64::from(header.filtered)),
            unfiltered: unfiltered..unfiltered.saturating_add(u64::from(header.original)),
        }
    }
}

/// Where all chunks of a tile lie: found by walking the headers, without touching what is between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkIndex {
    chunks: Vec<Chunk>,
}

impl ChunkIndex {
    /// Walks a whole filtered tile.
    ///
    /// # Errors
    /// Truncated, or bytes follow the last chunk.
    pub fn parse(filtered: &[u8]) -> Result<Self, FilterError> {
        let mut walk = Walk::new(filtered)?;
        // The number was checked against the bytes that are there.
        let mut chunks = Vec::with_capacity(usize::try_from(walk.left).unwrap_or_default());
        let mut unfiltered = 0;
        while let Some((offset, header, _, _)) = walk.next()? {
            let chunk = Chunk::locate(header, offset, unfiltered);
            unfiltered = chunk.unfiltered.end;
            chunks.push(chunk);
        }
        Ok(Self { chunks })
    }

    /// The chunks in order.
    #[must_use]
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Bytes of the whole tile.
    #[must_use]
    pub fn unfiltered_len(&self) -> u64 {
        self.chunks.last().map_or(0, |chunk| chunk.unfiltered.end)
    }

    /// The chunks that hold the bytes `range` of the tile.
    #[must_use]
    pub fn covering(&self, range: Range<u64>) -> &[Chunk] {
        if range.is_empty() {
            return &[];
        }
        let first = self.chunks.partition_point(|chunk| chunk.unfiltered.end <= range.start);
        let end = self.chunks.partition_point(|chunk| chunk.unfiltered.start < range.end);
        self.chunks.get(first..end).unwrap_or_default()
    }
}

/// Steps from chunk to chunk.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    reader: ByteReader<'a>,
    left: u64,
}

/// Offset of the header, the header, metadata, data.
pub(crate) type WalkItem<'a> = (u64, ChunkHeader, ByteReader<'a>, &'a [u8]);

impl<'a> Walk<'a> {
    pub(crate) fn new(filtered: &'a [u8]) -> Result<Self, FilterError> {
        let mut reader = ByteReader::new(filtered);
        let count = reader.u64("number of chunks")?;
        reader.count("chunks", count, ChunkHeader::LEN as u64)?;
        Ok(Self { reader, left: count })
    }

    pub(crate) fn next(&mut self) -> Result<Option<WalkItem<'a>>, FilterError> {
        if self.left == 0 {
            self.reader.clone().finish("filtered tile")?;
            return Ok(None);
        }
        self.left -= 1;
        let offset = self.reader.offset();
        let header = ChunkHeader::read(&mut self.reader)?;
        let metadata = self.reader.sub("metadata of the chunk", u64::from(header.metadata))?;
        let data = self.reader.bytes("data of the chunk", u64::from(header.filtered))?;
        Ok(Some((offset, header, metadata, data)))
    }
}

#[cfg(test)]
mod tests;
