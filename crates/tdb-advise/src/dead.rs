//! Advice on stored cells that no reader sees.

use tdb_array::{Aggregate, Array};
use tdb_types::Feature;

use crate::advice::{Advice, AdviceKind, AdvisedCommand, Figure};
use crate::costs::{COUNTED_BYTES, SHARE, percent, scaled};
use crate::seen::Seen;
use tdb_job::{Bytes, Result};
use tdb_maintain::ConsolidateFragments;

/// Returns advice on deleted cells of a sparse array. Counts the visible cells, and therefore
/// returns `None` for an array that is too large.
pub(super) fn cells(seen: &Seen) -> Result<Option<Advice>> {
    let deletes = seen.array.directory().deletes.len();
    let (_, stored) = seen.counts()?;
    if seen.schema().is_dense() || deletes == 0 || stored == 0 || seen.stored > COUNTED_BYTES {
        return Ok(None);
    }
    let count = |array: &Array| -> Result<u64> {
        Ok(array.read().aggregate([Aggregate::count()])?.value::<u64>("count")?.unwrap_or(stored))
    };
    let visible = count(&seen.array)?;
    let dead = stored.saturating_sub(visible);
    if dead < stored / SHARE {
        return Ok(None);
    }
    // With cell timestamps, consolidation keeps all versions except those of deleted cells.
    let stays = seen.array.version_of_new_fragments().has(Feature::PartialTimeOverlap);
    let gone = if stays { count(&seen.array.without_deletes())?.saturating_sub(visible) } else { dead };
    let is_joined = || {
        Ok::<_, tdb_job::MaintainError>(!ConsolidateFragments::new().purge(true).plan(&seen.array)?.steps().is_empty())
    };
    Ok(Some(if gone >= (stored / SHARE).max(1) && is_joined()? {
        purge(seen, (stored, gone), deletes)
    } else if stays {
        flatten(seen, (stored, dead))
    } else {
        return Ok(None);
    }))
}

/// Suggests purging deleted cells.
fn purge(seen: &Seen, (stored, gone): (u64, u64), deletes: usize) -> Advice {
    let bytes = scaled(seen.stored, gone, stored);
    let what = format!(
        "{gone} of {stored} cells ({}%) are deleted: reads fetch about {} of deleted cells, and evaluate {deletes} delete conditions on every cell. A purge removes deleted cells also for reads at earlier times",
        percent(gone, stored),
        Bytes(bytes)
    );
    let saves = seen.costs.of(deletes as u64, bytes);
    let remedy = vec![AdvisedCommand::new("consolidate", ["--purge-deleted"]), AdvisedCommand::plain("vacuum")];
    seen.advice(AdviceKind::DeadCells, None, what, figures(seen, (stored, gone), bytes), saves, remedy)
}

/// Suggests a copy of the visible cells.
fn flatten(seen: &Seen, (stored, dead): (u64, u64)) -> Advice {
    let bytes = scaled(seen.stored, dead, stored);
    let what = format!(
        "{dead} of {stored} cells ({}%) are deleted or overwritten: reads fetch about {} of these cells. Consolidation keeps overwritten cells for reads at earlier times. A migration without history copies only the visible cells",
        percent(dead, stored),
        Bytes(bytes)
    );
    let saves = seen.costs.of(0, bytes);
    let remedy = vec![AdvisedCommand::new("migrate", ["--flatten"])];
    seen.advice(AdviceKind::DeadCells, None, what, figures(seen, (stored, dead), bytes), saves, remedy)
}

fn figures(seen: &Seen, (stored, less): (u64, u64), bytes: u64) -> Vec<Figure> {
    vec![
        Figure::count("cells", stored, stored - less),
        Figure::bytes("bytes of data (estimate)", seen.stored, seen.stored - bytes),
    ]
}
