//! Lists of files: consolidated commits, vacuum and ignore files.

use tdb_condition::{Condition, Update};
use tdb_metadata::{CommitKind, ConsolidatedCommit, PathList};
use tdb_types::{DecodeError, Limits};

use super::inspection::Inspection;
use crate::failure::Result;

/// Inspects a `.vac` or `.ign` file with one path per line.
pub(super) fn paths(inspection: &mut Inspection<'_>) -> Result<()> {
    let bytes = inspection.bytes()?;
    let mut paths = 0_u64;
    PathList::for_each(&mut inspection.reader(&bytes, 0), |_| paths += 1).map_err(inspection.decode_error())?;
    inspection.notes.push(format!("{paths} paths"));
    Ok(())
}

/// Inspects a `.con` file with one path per line. The commit itself follows the path of a delete
/// commit.
pub(super) fn consolidated(inspection: &Inspection<'_>) -> Result<()> {
    let bytes = inspection.bytes()?;
    let mut reader = inspection.reader(&bytes, 0);
    // Parses each entry separately, to show a commit after the path.
    while reader.remaining() > 0 {
        let entry = ConsolidatedCommit::parse(&mut reader).map_err(inspection.decode_error())?;
        if let Some(commit) = entry.commit {
            embedded(inspection, commit, entry.offset, CommitKind::of(entry.path))?;
        }
    }
    Ok(())
}

/// Inspects a delete or update commit within a consolidated commits file.
fn embedded(inspection: &Inspection<'_>, commit: &[u8], offset: u64, kind: Option<CommitKind>) -> Result<()> {
    let mut reader = inspection.reader(commit, offset);
    let tile = inspection.key.decoder().decode(&mut reader).map_err(inspection.tile_error())?;
    let limits = Limits::default();
    reader.finish("commit").map_err(inspection.decode_error())?;
    let parsed = tile.parse_payload(Some(inspection.spans), |payload| -> Result<(), DecodeError> {
        match kind {
            Some(CommitKind::Update) => Update::parse(payload, &limits).map(|_| ()),
            _ => Condition::parse(payload, &limits).map(|_| ()),
        }
    });
    parsed.map_err(inspection.decode_error())
}
