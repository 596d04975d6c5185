//! Common state of the inspection of all kinds of files.

use tdb_array::ArrayError;
use tdb_generic_tile::GenericTileError;
use tdb_schema::SchemaError;
use tdb_types::{ByteReader, DecodeError, Spans};

use super::located::Located;
use crate::failure::{Failure, Result};
use crate::key::Key;

/// An inspection in progress.
pub(super) struct Inspection<'a> {
    pub(super) located: &'a Located,
    pub(super) spans: &'a Spans,
    pub(super) key: &'a Key,
    /// Maximum number of tiles of a data file to show.
    pub(super) most_tiles: u64,
    pub(super) notes: Vec<String>,
}

impl Inspection<'_> {
    pub(super) fn bytes(&self) -> Result<Vec<u8>> {
        self.located.read()
    }

    pub(super) fn file(&self) -> String {
        self.located.to_string()
    }

    pub(super) fn schema_error(&self) -> impl Fn(SchemaError) -> Failure + use<> {
        let file = self.file();
        move |source| ArrayError::Schema { file: file.clone(), source }.into()
    }

    pub(super) fn tile_error(&self) -> impl Fn(GenericTileError) -> Failure + use<> {
        let file = self.file();
        move |source| ArrayError::GenericTile { file: file.clone(), source }.into_key_error().into()
    }

    pub(super) fn decode_error(&self) -> impl Fn(DecodeError) -> Failure + use<> {
        let error = self.tile_error();
        move |source| error(source.into())
    }

    /// Returns a recording reader for bytes at `offset` of the file.
    pub(super) fn reader<'a>(&'a self, bytes: &'a [u8], offset: u64) -> ByteReader<'a> {
        ByteReader::at(bytes, offset).recording(self.spans, 0)
    }

    /// Inspects a file with a single generic tile. `parse` reads the payload.
    pub(super) fn generic_tile(
        &self,
        bytes: &[u8],
        parse: impl FnOnce(&mut ByteReader<'_>) -> Result<(), DecodeError>,
    ) -> Result<()> {
        let spans = Some(self.spans);
        let tile = self.key.decoder().decode_file(bytes, spans).map_err(self.tile_error())?;
        tile.parse_payload(spans, parse).map_err(self.decode_error())
    }
}
