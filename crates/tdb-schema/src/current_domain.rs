//! The current domain: the part of the domain where cells may be written.

use tdb_rtree::{DimensionKind, NdRange};
use tdb_types::{ByteReader, ByteWriter};

use crate::SchemaError;
use crate::error::Result;

/// The version of this structure, independent of the format version.
///
/// Releases write 0, although the format specification says 1.
const VERSION: u32 = 0;
/// A rectangle with a range per dimension. The format has no other shape.
const RECTANGLE: u8 = 0;

/// Parses the current domain. Returns `None` if the schema sets no current domain.
pub(crate) fn parse(reader: &mut ByteReader<'_>, kinds: &[DimensionKind]) -> Result<Option<NdRange>> {
    let version = reader.u32("current domain version")?;
    if version > VERSION {
        return Err(SchemaError::unsupported(
            "current domain",
            format!("found version {version}, expected at most {VERSION}"),
        ));
    }
    if reader.bool("empty")? {
        return Ok(None);
    }
    let shape = reader.u8("type")?;
    if shape != RECTANGLE {
        return Err(SchemaError::unsupported(
            "current domain",
            format!("found type {shape}, expected a rectangle (0)"),
        ));
    }
    reader.explain(|| "rectangle".to_owned());
    Ok(Some(NdRange::parse(reader, kinds)?))
}

pub(crate) fn write(current: Option<&NdRange>, writer: &mut ByteWriter, kinds: &[DimensionKind]) -> Result<()> {
    writer.u32(VERSION);
    writer.bool(current.is_none());
    if let Some(rectangle) = current {
        writer.u8(RECTANGLE);
        rectangle.write(writer, kinds)?;
    }
    Ok(())
}
