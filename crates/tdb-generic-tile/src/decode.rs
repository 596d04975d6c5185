//! Decoding of generic tiles.

use tdb_filters::{BoundPipeline, ChunkIndex, EncryptionKey, FilterError, Scratch};
use tdb_types::{ByteReader, DecodeError, DecodeErrorKind, Encryption, Limits, Spans, memory_len};

use crate::kind::tile_kind;
use crate::{GenericTile, GenericTileError, GenericTileHeader, Result};

/// A decoder of generic tiles that reuses buffers and codec contexts.
#[derive(Debug)]
pub struct GenericTileDecoder {
    limits: Limits,
    key: Option<EncryptionKey>,
    scratch: Scratch,
}

impl GenericTileDecoder {
    /// Creates a decoder of unencrypted tiles, with payloads of at most
    /// [`Limits::generic_tile_bytes`].
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let limits = limits.addressable();
        // The same limit applies to the data between two filters.
        let scratch = Scratch::with_limits(limits.with_tile_bytes(limits.generic_tile_bytes));
        Self { limits, key: None, scratch }
    }

    /// Sets the key. The decoder then accepts only tiles encrypted with this key. `None` restores a
    /// decoder of unencrypted tiles.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<Option<EncryptionKey>>) -> Self {
        self.key = key.into();
        self
    }

    /// Decodes the next generic tile. If the reader [records](ByteReader::recording), the record
    /// includes the fields of the header and of the chunks.
    ///
    /// # Errors
    /// Fails if the tile is truncated or damaged, the payload exceeds
    /// [`Limits::generic_tile_bytes`], or a filter is not supported. Also fails if the tile is
    /// encrypted but the decoder has no key or another key, or if the decoder has a key but the
    /// tile is not encrypted.
    pub fn decode(&mut self, reader: &mut ByteReader<'_>) -> Result<GenericTile> {
        let offset = reader.offset();
        let (header, filtered) = reader.group(
            || "generic tile".to_owned(),
            |reader| {
                let header = GenericTileHeader::parse(reader)?;
                let filtered = reader.sub("filtered tile", header.persisted_size)?;
                Ok((header, filtered))
            },
        )?;
        self.check_key(&header, offset)?;
        let len = self.payload_len(&header, offset)?;
        let spans = filtered.spans();
        let payload = self.unfilter(&header, &filtered, len);
        let payload = payload.map_err(|source| GenericTileError::Filter { offset, source })?;
        let space = spans.map_or(0, |spans| spans.new_space(format!("payload of the generic tile at {offset:#x}")));
        Ok(GenericTile { header, offset, payload, space })
    }

    fn unfilter(
        &mut self,
        header: &GenericTileHeader,
        filtered: &ByteReader<'_>,
        len: usize,
    ) -> Result<Vec<u8>, FilterError> {
        let pipeline = BoundPipeline::bind_with_key(&header.pipeline, tile_kind(header), self.key.as_ref())?;
        // Checks the sizes of the chunks before allocating memory.
        let index = ChunkIndex::parse(filtered.rest())?;
        if index.unfiltered_len() != header.tile_size {
            let (expected, found) = (header.tile_size, index.unfiltered_len());
            return Err(FilterError::WrongSize { what: "all chunks together", expected, found });
        }
        if filtered.spans().is_some() {
            record_chunks(filtered.clone(), &index)?;
        }
        let mut payload = vec![0; len];
        pipeline.decode_tile(filtered.rest(), &mut payload, &mut self.scratch)?;
        Ok(payload)
    }

    /// Decodes a file that is a single generic tile. Records its fields into `spans` if given.
    ///
    /// # Errors
    /// As [`decode`](Self::decode). Also fails if bytes follow the tile.
    pub fn decode_file(&mut self, bytes: &[u8], spans: Option<&Spans>) -> Result<GenericTile> {
        let mut reader = ByteReader::new(bytes);
        if let Some(spans) = spans {
            reader = reader.recording(spans, 0);
        }
        let tile = self.decode(&mut reader)?;
        reader.finish("generic tile")?;
        Ok(tile)
    }

    fn check_key(&self, header: &GenericTileHeader, offset: u64) -> Result<()> {
        match (header.encryption, &self.key) {
            (Encryption::None, Some(_)) => Err(GenericTileError::KeyNotNeeded { offset }),
            (Encryption::None, None) | (_, Some(_)) => Ok(()),
            (encryption, None) => Err(GenericTileError::KeyNeeded { offset, encryption }),
        }
    }

    /// Returns the length of the payload, or an error if it exceeds the limit.
    fn payload_len(&self, header: &GenericTileHeader, offset: u64) -> Result<usize, DecodeError> {
        let max = self.limits.generic_tile_bytes;
        memory_len(header.tile_size).filter(|_| header.tile_size <= max).ok_or_else(|| {
            let kind = DecodeErrorKind::LimitExceeded { limit: "generic_tile_bytes", asked: header.tile_size, max };
            DecodeError::new(kind, "tile size", offset.saturating_add(TILE_SIZE_AT)).inside("generic tile")
        })
    }
}

impl GenericTile {
    /// Parses the next generic tile. To decode many tiles, use a [`GenericTileDecoder`], which
    /// reuses its buffers.
    ///
    /// If the reader [records](ByteReader::recording), the record includes the fields of the header
    /// and of the chunks.
    ///
    /// # Errors
    /// Fails if the tile is truncated or damaged, the payload exceeds
    /// [`Limits::generic_tile_bytes`], or a filter is not supported. Fails with
    /// [`KeyNeeded`](crate::GenericTileError::KeyNeeded) if the tile is encrypted.
    pub fn parse(reader: &mut ByteReader<'_>, limits: &Limits) -> Result<Self> {
        GenericTileDecoder::new(*limits).decode(reader)
    }

    /// Parses a file that is a single generic tile. Records its fields into `spans` if given.
    ///
    /// # Errors
    /// As [`parse`](Self::parse). Also fails if bytes follow the tile.
    pub fn parse_file(bytes: &[u8], limits: &Limits, spans: Option<&Spans>) -> Result<Self> {
        GenericTileDecoder::new(*limits).decode_file(bytes, spans)
    }
}

/// The offset of the tile size in a header, after the version and the persisted size.
const TILE_SIZE_AT: u64 = 12;

/// Records the spans of the chunks by reading their framing again.
fn record_chunks(mut filtered: ByteReader<'_>, index: &ChunkIndex) -> Result<(), DecodeError> {
    filtered.u64("number of chunks")?;
    for (number, chunk) in index.chunks().iter().enumerate() {
        let parse = |reader: &mut ByteReader<'_>| {
            reader.u32("original length")?;
            reader.u32("filtered length")?;
            reader.u32("metadata length")?;
            reader.bytes("metadata", chunk.metadata.end.saturating_sub(chunk.metadata.start))?;
            reader.bytes("data", chunk.data.end.saturating_sub(chunk.data.start)).map(|_| ())
        };
        filtered.group(|| format!("chunk {number}"), parse)?;
    }
    Ok(())
}
