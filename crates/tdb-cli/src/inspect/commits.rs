//! Files that speak of other files: consolidated commits, vacuum and ignore files.

use tdb_types::{ByteReader, DecodeError, Limits};

use super::{Inspection, condition};
use crate::failure::Result;

/// A `.vac` or `.ign` file: one path per line.
pub(super) fn paths(inspection: &Inspection<'_>) -> Result<()> {
    let bytes = inspection.bytes()?;
    let mut reader = inspection.reader(&bytes, 0);
    while reader.remaining() > 0 {
        line(&mut reader).map_err(inspection.decode_error())?;
    }
    Ok(())
}

/// A `.con` file: one path per line, and after the path of a delete commit the commit itself.
pub(super) fn consolidated(inspection: &Inspection<'_>) -> Result<()> {
    let bytes = inspection.bytes()?;
    let mut reader = inspection.reader(&bytes, 0);
    while reader.remaining() > 0 {
        let path = line(&mut reader).map_err(inspection.decode_error())?;
        if path.ends_with(".del") || path.ends_with(".upd") {
            delete(inspection, &mut reader)?;
        }
    }
    Ok(())
}

/// A path and the end of its line.
fn line(reader: &mut ByteReader<'_>) -> Result<String, DecodeError> {
    let rest = reader.rest();
    let len = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let path = reader.string("path", len as u64)?;
    if reader.remaining() > 0 {
        reader.u8("end of the line")?;
    }
    Ok(path)
}

fn delete(inspection: &Inspection<'_>, reader: &mut ByteReader<'_>) -> Result<()> {
    let fail = inspection.decode_error();
    let length = reader.u64("length of the commit").map_err(&fail)?;
    let mut tile = reader.sub("commit", length).map_err(&fail)?;
    let tile = inspection.key.decoder().decode(&mut tile).map_err(inspection.tile_error())?;
    let parse = |payload: &mut ByteReader<'_>| condition::parse(payload, Limits::default().depth);
    tile.parse_payload(Some(inspection.spans), parse).map_err(fail)
}
