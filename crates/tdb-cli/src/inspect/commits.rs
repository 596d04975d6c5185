//! Files that speak of other files: consolidated commits, vacuum and ignore files.

use tdb_generic_tile::GenericTile;
use tdb_metadata::{ConsolidatedCommit, PathList};
use tdb_types::{ByteReader, Limits};

use super::{Inspection, condition};
use crate::failure::Result;

/// A `.vac` or `.ign` file: one path per line.
pub(super) fn paths(inspection: &mut Inspection<'_>) -> Result<()> {
    let bytes = inspection.bytes()?;
    let list = PathList::parse(&mut inspection.reader(&bytes, 0)).map_err(inspection.decode_error())?;
    inspection.notes.push(format!("{} paths", list.paths.len()));
    Ok(())
}

/// A `.con` file: one path per line, and after the path of a delete commit the commit itself.
pub(super) fn consolidated(inspection: &Inspection<'_>) -> Result<()> {
    let bytes = inspection.bytes()?;
    let mut reader = inspection.reader(&bytes, 0);
    // Entry by entry, so that a commit is shown after its path.
    while reader.remaining() > 0 {
        let entry = ConsolidatedCommit::parse(&mut reader).map_err(inspection.decode_error())?;
        if let Some(commit) = entry.commit {
            delete(inspection, commit, entry.offset)?;
        }
    }
    Ok(())
}

fn delete(inspection: &Inspection<'_>, commit: &[u8], offset: u64) -> Result<()> {
    let mut reader = inspection.reader(commit, offset);
    let tile = GenericTile::parse(&mut reader, &inspection.limits).map_err(inspection.tile_error())?;
    reader.finish("commit").map_err(inspection.decode_error())?;
    let parse = |payload: &mut ByteReader<'_>| condition::parse(payload, Limits::default().depth);
    tile.parse_payload(Some(inspection.spans), parse).map_err(inspection.decode_error())
}
