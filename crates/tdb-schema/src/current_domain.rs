//! The current domain: the part of the domain that may hold cells for now.

use tdb_rtree::{DimensionKind, NdRange};
use tdb_types::{ByteReader, ByteWriter};

use crate::SchemaError;
use crate::error::Result;

/// The version of this structure, which counts apart from the format's. Releases write 0, though the format's
/// description says 1.
const VERSION: u32 = 0;
/// A rectangle with one range per dimension, the only shape so far.
const RECTANGLE: u8 = 0;

/// Reads the current domain; nothing if the schema sets none.
pub(crate) fn parse(reader: &mut ByteReader<'_>, kinds: &[DimensionKind]) -> Result<Option<NdRange>> {
    let version = reader.u32("current domain version")?;
    if version > VERSION {
        return Err(SchemaError::unsupported("current domain", format!("version {version} is above {VERSION}")));
    }
    if reader.bool("empty")? {
        return Ok(None);
    }
    let shape = reader.u8("type")?;
    if shape != RECTANGLE {
        return Err(SchemaError::unsupported("current domain", format!("type {shape} is not a rectangle (0)")));
    }
    reader.explain(|| "rectangle".to_owned());
    Ok(Some(NdRange::parse(reader, kinds)?))
}

/// Writes the current domain.
pub(crate) fn write(current: Option<&NdRange>, writer: &mut ByteWriter, kinds: &[DimensionKind]) -> Result<()> {
    writer.u32(VERSION);
    writer.bool(current.is_none());
    if let Some(rectangle) = current {
        writer.u8(RECTANGLE);
        rectangle.write(writer, kinds)?;
    }
    Ok(())
}
