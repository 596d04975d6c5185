//! A generic tile, unfiltered.

use tdb_types::{ByteReader, ByteWriter, DecodeError, FormatVersion, Limits, Spans};

use crate::{GenericTileDecoder, GenericTileEncoder, GenericTileHeader, Result};

/// A generic tile whose payload has been unfiltered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenericTile {
    /// What stood before the filtered bytes.
    pub header: GenericTileHeader,
    /// Where the tile begins, in the bytes that it was read from.
    pub offset: u64,
    /// The bytes inside.
    pub payload: Vec<u8>,
    /// The space of offsets that the payload is recorded in.
    pub(crate) space: u32,
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

    /// Writes a generic tile that holds `payload` as the reference library writes it today: filtered by zlib at level 1,
    /// [the default version](FormatVersion::DEFAULT) in the header. For another version, or for many tiles, there is
    /// [`GenericTileEncoder`].
    ///
    /// # Errors
    /// This build has no zlib.
    pub fn write(payload: &[u8], writer: &mut ByteWriter) -> Result<()> {
        GenericTileEncoder::new(FormatVersion::DEFAULT).encode(payload, writer)
    }

    /// Bytes of the tile as it is stored, header and all.
    #[must_use]
    pub fn stored_len(&self) -> u64 {
        self.header.stored_len()
    }

    /// A reader over the payload, whose first byte has offset 0; recording into `spans` if they are those that recorded
    /// the tile, in a space of offsets of the payload's own.
    #[must_use]
    pub fn payload_reader<'a>(&'a self, spans: Option<&'a Spans>) -> ByteReader<'a> {
        let reader = ByteReader::new(&self.payload);
        match spans {
            Some(spans) => reader.recording(spans, self.space),
            None => reader,
        }
    }

    /// Runs `parse` on the payload, all of which it must read. Errors say that their offsets count in the payload, and
    /// where its tile begins.
    ///
    /// # Errors
    /// Those of `parse`, and bytes that it leaves.
    pub fn parse_payload<'a, T>(
        &'a self,
        spans: Option<&'a Spans>,
        parse: impl FnOnce(&mut ByteReader<'a>) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let mut reader = self.payload_reader(spans);
        let parsed = parse(&mut reader).and_then(|value| reader.finish("payload").map(|()| value));
        parsed.map_err(|error| error.inside(format!("payload of the generic tile at {:#x}", self.offset)))
    }
}
