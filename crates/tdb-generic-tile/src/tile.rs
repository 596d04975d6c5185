//! Unfiltered generic tiles.

use tdb_types::{ByteReader, DecodeError, Spans};

use crate::GenericTileHeader;

/// A generic tile with an unfiltered payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenericTile {
    /// The header.
    pub header: GenericTileHeader,
    /// The offset of the tile in the bytes that it was read from.
    pub offset: u64,
    /// The unfiltered bytes.
    pub payload: Vec<u8>,
    /// The number of the offset space for spans in the payload.
    pub(crate) space: u32,
}

impl GenericTile {
    /// Returns the size of the stored tile in bytes, including the header.
    #[must_use]
    pub fn stored_len(&self) -> u64 {
        self.header.stored_len()
    }

    /// Returns a reader over the payload, with offsets from 0.
    ///
    /// If `spans` is given, the reader records into the payload's offset space. Pass the same
    /// `spans` as to the parser of the tile.
    #[must_use]
    pub fn payload_reader<'a>(&'a self, spans: Option<&'a Spans>) -> ByteReader<'a> {
        let reader = ByteReader::new(&self.payload);
        match spans {
            Some(spans) => reader.recording(spans, self.space),
            None => reader,
        }
    }

    /// Runs `parse` on the payload and checks that `parse` consumes all bytes.
    ///
    /// Errors name the payload and the offset of its tile.
    ///
    /// # Errors
    /// Fails if `parse` fails or does not consume all bytes.
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
