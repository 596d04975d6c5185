//! From stored bytes to payloads.

use tdb_filters::{BoundPipeline, ChunkIndex, EncryptionKey, FilterError, Scratch};
use tdb_types::{ByteReader, DecodeError, DecodeErrorKind, Encryption, Limits, Spans, memory_len};

use crate::kind::tile_kind;
use crate::{GenericTile, GenericTileError, GenericTileHeader, Result};

/// Reads generic tiles one after the other, with buffers and codec contexts used again.
#[derive(Debug)]
pub struct GenericTileDecoder {
    limits: Limits,
    key: Option<EncryptionKey>,
    scratch: Scratch,
}

impl GenericTileDecoder {
    /// For tiles that are not encrypted, with payloads of [`Limits::generic_tile_bytes`] at most.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let limits = limits.addressable();
        // What lies between two filters is bounded like the payload.
        let scratch = Scratch::with_limits(limits.with_tile_bytes(limits.generic_tile_bytes));
        Self { limits, key: None, scratch }
    }

    /// The same for tiles that are encrypted with `key`, and for no others.
    #[must_use]
    pub fn with_key(mut self, key: EncryptionKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Reads the generic tile that comes next. If the reader records, so are the header's fields and the chunks.
    ///
    /// # Errors
    /// As [`GenericTile::parse`].
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
        // Chunks that don't add up cost nothing yet.
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

    /// Reads a file that is one generic tile and nothing else, recording into `spans` if there are any.
    ///
    /// # Errors
    /// As [`GenericTile::parse_file`].
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

    /// The payload's length, if it is allowed.
    fn payload_len(&self, header: &GenericTileHeader, offset: u64) -> Result<usize, DecodeError> {
        let max = self.limits.generic_tile_bytes;
        memory_len(header.tile_size).filter(|_| header.tile_size <= max).ok_or_else(|| {
            let kind = DecodeErrorKind::LimitExceeded { limit: "generic_tile_bytes", asked: header.tile_size, max };
            DecodeError::new(kind, "tile size", offset.saturating_add(TILE_SIZE_AT)).inside("generic tile")
        })
    }
}

impl GenericTile {
    /// Reads the generic tile that comes next. For many tiles, a [`GenericTileDecoder`] uses its buffers again.
    ///
    /// If the reader records, so are the header's fields and the chunks.
    ///
    /// # Errors
    /// Truncated or damaged, a payload larger than [`Limits::generic_tile_bytes`], a filter that can't be run, or
    /// [`KeyNeeded`](crate::GenericTileError::KeyNeeded).
    pub fn parse(reader: &mut ByteReader<'_>, limits: &Limits) -> Result<Self> {
        GenericTileDecoder::new(*limits).decode(reader)
    }

    /// Reads a file that is one generic tile and nothing else, recording into `spans` if there are any.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and bytes after the tile.
    pub fn parse_file(bytes: &[u8], limits: &Limits, spans: Option<&Spans>) -> Result<Self> {
        GenericTileDecoder::new(*limits).decode_file(bytes, spans)
    }
}

/// Where in a header the tile size stands, behind version and persisted size.
const TILE_SIZE_AT: u64 = 12;

/// Records where the chunks lie, by reading their framing once more with the reader that records.
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
