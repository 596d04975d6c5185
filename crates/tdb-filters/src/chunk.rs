//! The framing of a filtered tile.
//!
//! | bytes | field |
//! | --- | --- |
//! | `u64` | number of chunks |
//! | per chunk: `u32` | unfiltered length of the chunk |
//! | `u32` | length of the data |
//! | `u32` | length of the metadata |
//! | ... | metadata, then data |
//!
//! A tile may have no chunks, and chunks may be empty.

use std::ops::Range;

use tdb_types::{ByteReader, DecodeError};

use crate::FilterError;

/// The header of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHeader {
    /// Unfiltered length of the chunk, in bytes.
    pub original: u32,
    /// Length of the data, in bytes.
    pub filtered: u32,
    /// Length of the metadata, in bytes. The metadata precede the data.
    pub metadata: u32,
}

impl ChunkHeader {
    /// Size of a header, in bytes.
    pub const LEN: usize = 12;
    /// Size of the number of chunks, which precedes the first header, in bytes.
    pub const COUNT_LEN: usize = 8;

    /// Parses a header, for readers that walk a tile with small reads.
    #[must_use]
    pub fn parse(bytes: &[u8; Self::LEN]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *bytes;
        Self {
            original: u32::from_le_bytes([a, b, c, d]),
            filtered: u32::from_le_bytes([e, f, g, h]),
            metadata: u32::from_le_bytes([i, j, k, l]),
        }
    }

    /// Encodes the header.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        for (to, from) in bytes.as_chunks_mut::<4>().0.iter_mut().zip([self.original, self.filtered, self.metadata]) {
            *to = from.to_le_bytes();
        }
        bytes
    }

    /// Returns the total length of metadata and data, in bytes.
    #[must_use]
    pub fn payload(self) -> u64 {
        u64::from(self.filtered) + u64::from(self.metadata)
    }

    /// Returns the maximum stored size of a chunk of `unfiltered` bytes, under a tile limit of
    /// `tile_bytes`.
    ///
    /// Filters lengthen incompressible data, but only contrived pipelines exceed this bound.
    #[must_use]
    pub fn most_payload(unfiltered: u64, tile_bytes: u64) -> u64 {
        /// Maximum ratio of the stored to the unfiltered length. Positive delta with windows of a
        /// single byte reaches 6. Three such filters with compressors between them reach about 216.
        const GROWTH: u64 = 512;
        /// Minimum bound, which leaves small chunks room for initialization vectors, checksums and
        /// headers.
        const LEAST: u64 = 64 << 10;
        let most = unfiltered.saturating_mul(GROWTH).min(tile_bytes.saturating_mul(2));
        most.max(LEAST)
    }

    /// Checks that filters can have produced the stored size of the chunk. `offsets` is the size of
    /// the offsets stored with the data, in bytes.
    ///
    /// # Errors
    /// [`ImplausibleChunk`](FilterError::ImplausibleChunk) if the stored size exceeds
    /// [`most_payload`](Self::most_payload).
    pub fn check_payload(self, offsets: u64, tile_bytes: u64) -> Result<(), FilterError> {
        let unfiltered = u64::from(self.original).saturating_add(offsets);
        let max = Self::most_payload(unfiltered, tile_bytes);
        if self.payload() <= max {
            return Ok(());
        }
        Err(FilterError::ImplausibleChunk { stored: self.payload(), unfiltered, max })
    }

    /// Returns the maximum number of chunks in a tile of `unfiltered` bytes.
    ///
    /// Known writers produce at most one empty chunk per tile. The bound limits the work spent on
    /// empty chunks.
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

/// The position of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The metadata's range in the filtered tile.
    pub metadata: Range<u64>,
    /// The data's range in the filtered tile.
    pub data: Range<u64>,
    /// The chunk's range in the unfiltered tile.
    pub unfiltered: Range<u64>,
}

impl Chunk {
    /// Computes the position of a chunk. `offset` is the header's offset in the filtered tile.
    /// `unfiltered` is the start of the chunk in the unfiltered tile.
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

/// The positions of all chunks of a tile, derived from the headers only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkIndex {
    chunks: Vec<Chunk>,
}

impl ChunkIndex {
    /// Reads the headers of all chunks of a filtered tile.
    ///
    /// # Errors
    /// Fails if the tile is truncated or has trailing bytes.
    pub fn parse(filtered: &[u8]) -> Result<Self, FilterError> {
        let mut walk = Walk::new(filtered)?;
        // The number was checked against the available bytes.
        let mut chunks = Vec::with_capacity(usize::try_from(walk.left).unwrap_or_default());
        let mut unfiltered = 0;
        while let Some((offset, header, _, _)) = walk.next()? {
            let chunk = Chunk::locate(header, offset, unfiltered);
            unfiltered = chunk.unfiltered.end;
            chunks.push(chunk);
        }
        Ok(Self { chunks })
    }

    /// Returns the chunks in order.
    #[must_use]
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Returns the unfiltered length of the tile, in bytes.
    #[must_use]
    pub fn unfiltered_len(&self) -> u64 {
        self.chunks.last().map_or(0, |chunk| chunk.unfiltered.end)
    }

    /// Returns the chunks that overlap `range`, a byte range of the unfiltered tile.
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

/// An iterator over the chunks of a filtered tile.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    reader: ByteReader<'a>,
    left: u64,
}

/// Offset of the header, header, metadata, data.
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
