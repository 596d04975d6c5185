//! Files: schemas and enumerations inside their generic tiles.

use tdb_generic_tile::{GenericTile, GenericTileEncoder, GenericTileHeader};
use tdb_types::{ByteReader, ByteWriter, FormatVersion, Limits, Spans};

use crate::error::Result;
use crate::{ArraySchema, Enumeration};

impl ArraySchema {
    /// Reads the file of a schema: one generic tile. Also gives the tile's header, whose version is that of the library
    /// that wrote the file.
    ///
    /// # Errors
    /// Bytes that aren't a schema, or one that contradicts itself or the format.
    pub fn parse_file(bytes: &[u8], limits: &Limits, spans: Option<&Spans>) -> Result<(Self, GenericTileHeader)> {
        let tile = GenericTile::parse_file(bytes, limits, spans)?;
        let schema = Self::parse_tile(&tile, spans)?;
        Ok((schema, tile.header))
    }

    /// Reads a schema from its generic tile, for those who have unfiltered it themselves, perhaps with a key.
    ///
    /// # Errors
    /// As [`parse_file`](Self::parse_file).
    pub fn parse_tile(tile: &GenericTile, spans: Option<&Spans>) -> Result<Self> {
        whole(tile.payload_reader(spans), "array schema", Self::parse)
    }

    /// The bytes of the schema's file.
    ///
    /// # Errors
    /// As [`write`](Self::write), or this build has no zlib.
    pub fn to_file(&self) -> Result<Vec<u8>> {
        let mut payload = ByteWriter::new();
        self.write(&mut payload)?;
        to_tile(&payload, self.version())
    }
}

impl Enumeration {
    /// Reads the file of an enumeration: one generic tile.
    ///
    /// # Errors
    /// Bytes that aren't an enumeration, or one that contradicts itself.
    pub fn parse_file(bytes: &[u8], limits: &Limits, spans: Option<&Spans>) -> Result<Self> {
        Self::parse_tile(&GenericTile::parse_file(bytes, limits, spans)?, spans)
    }

    /// Reads an enumeration from its generic tile, for those who have unfiltered it themselves, perhaps with a key.
    ///
    /// # Errors
    /// As [`parse_file`](Self::parse_file).
    pub fn parse_tile(tile: &GenericTile, spans: Option<&Spans>) -> Result<Self> {
        whole(tile.payload_reader(spans), "enumeration", Self::parse)
    }

    /// The bytes of the enumeration's file.
    ///
    /// # Errors
    /// This build has no zlib.
    pub fn to_file(&self) -> Result<Vec<u8>> {
        let mut payload = ByteWriter::new();
        self.write(&mut payload);
        to_tile(&payload, FormatVersion::DEFAULT)
    }
}

/// Runs `parse`, which must read everything.
fn whole<T>(
    mut reader: ByteReader<'_>,
    name: &'static str,
    parse: impl FnOnce(&mut ByteReader<'_>) -> Result<T>,
) -> Result<T> {
    let value = parse(&mut reader)?;
    reader.finish(name)?;
    Ok(value)
}

/// A generic tile as a library of this version writes it.
fn to_tile(payload: &ByteWriter, version: FormatVersion) -> Result<Vec<u8>> {
    let mut file = ByteWriter::new();
    GenericTileEncoder::new(version).encode(payload.as_slice(), &mut file)?;
    Ok(file.into_bytes())
}
