//! Schema and enumeration files: payloads in generic tiles.

use tdb_generic_tile::{GenericTile, GenericTileEncoder, GenericTileHeader};
use tdb_types::{ByteReader, ByteWriter, FormatVersion, Limits, Spans};

use crate::error::Result;
use crate::{ArraySchema, Enumeration};

impl ArraySchema {
    /// Parses a schema file, a single generic tile.
    ///
    /// Also returns the header of the tile. The header contains the newest format version that the
    /// writing library supports.
    ///
    /// # Errors
    /// Fails if the bytes are not a valid schema, use an unsupported feature, are encrypted, or
    /// exceed a limit.
    pub fn parse_file(bytes: &[u8], limits: &Limits, spans: Option<&Spans>) -> Result<(Self, GenericTileHeader)> {
        let tile = GenericTile::parse_file(bytes, limits, spans)?;
        let schema = Self::parse_tile(&tile, spans)?;
        Ok((schema, tile.header))
    }

    /// Parses a schema from an unfiltered generic tile, for example after decryption.
    ///
    /// # Errors
    /// Fails if the payload is not valid or uses an unsupported feature.
    pub fn parse_tile(tile: &GenericTile, spans: Option<&Spans>) -> Result<Self> {
        whole(tile.payload_reader(spans), "array schema", Self::parse)
    }

    /// Returns the bytes of the schema file.
    ///
    /// # Errors
    /// As [`write`](Self::write). Also fails if the build does not include zlib.
    pub fn to_file(&self) -> Result<Vec<u8>> {
        to_tile(&self.to_payload()?, self.version())
    }
}

impl Enumeration {
    /// Parses an enumeration file, a single generic tile.
    ///
    /// # Errors
    /// Fails if the bytes are not a valid enumeration, use an unsupported feature, are encrypted,
    /// or exceed a limit.
    pub fn parse_file(bytes: &[u8], limits: &Limits, spans: Option<&Spans>) -> Result<Self> {
        Self::parse_tile(&GenericTile::parse_file(bytes, limits, spans)?, spans)
    }

    /// Parses an enumeration from an unfiltered generic tile, for example after decryption.
    ///
    /// # Errors
    /// Fails if the payload is not valid or uses an unsupported feature.
    pub fn parse_tile(tile: &GenericTile, spans: Option<&Spans>) -> Result<Self> {
        whole(tile.payload_reader(spans), "enumeration", Self::parse)
    }

    /// Returns the bytes of the enumeration file.
    ///
    /// # Errors
    /// Fails if the build does not include zlib.
    pub fn to_file(&self) -> Result<Vec<u8>> {
        to_tile(&self.to_payload(), FormatVersion::DEFAULT)
    }
}

/// Runs `parse` and checks that `parse` consumes all bytes.
fn whole<T>(
    mut reader: ByteReader<'_>,
    name: &'static str,
    parse: impl FnOnce(&mut ByteReader<'_>) -> Result<T>,
) -> Result<T> {
    let value = parse(&mut reader)?;
    reader.finish(name)?;
    Ok(value)
}

/// Encodes a generic tile with `version` in its header.
fn to_tile(payload: &[u8], version: FormatVersion) -> Result<Vec<u8>> {
    let mut file = ByteWriter::new();
    GenericTileEncoder::new(version).encode(payload, &mut file)?;
    Ok(file.into_bytes())
}
