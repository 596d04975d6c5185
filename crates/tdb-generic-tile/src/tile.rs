//! A generic tile, unfiltered.

use tdb_types::{ByteReader, DecodeError, Spans};

use crate::GenericTileHeader;

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
