//! Cells that are stored, and that no reader sees.

use tdb_array::Aggregate;

use super::advice::{Advice, AdviceKind, AdvisedCommand, Figure, Size};
use super::costs::{COUNTED_BYTES, SHARE, percent, scaled};
use super::seen::Seen;
use crate::{ConsolidateFragments, Result};

/// Advice on deleted cells of a sparse array: those that are left are counted, if it isn't too large for that.
pub(super) fn cells(seen: &Seen) -> Result<Option<Advice>> {
    let deletes = seen.array.directory().deletes.len();
    let (_, stored) = seen.counts()?;
    if seen.schema().is_dense() || deletes == 0 || stored == 0 || seen.stored > COUNTED_BYTES {
        return Ok(None);
    }
    let counted = seen.array.read().aggregate([Aggregate::count()])?;
    let visible = counted.value::<u64>("count")?.unwrap_or(stored);
    let dead = stored.saturating_sub(visible);
    if dead < stored / SHARE || ConsolidateFragments::new().purge(true).plan(&seen.array)?.steps.is_empty() {
        return Ok(None);
    }
    let bytes = scaled(seen.stored, dead, stored);
    let what = format!(
        "{dead} of {stored} cells, {}%, were deleted or written again: about {} are read for nothing, and {deletes} conditions are \
         compared with every cell. Purged, deleted cells are gone for readers of earlier times, too",
        percent(dead, stored),
        Size(bytes)
    );
    let figures = vec![
        Figure::count("cells", stored, visible),
        Figure::bytes("bytes of data, about", seen.stored, seen.stored - bytes),
    ];
    let saves = seen.costs.of(deletes as u64, bytes);
    let remedy = vec![AdvisedCommand::new("consolidate", ["--purge-deleted"]), AdvisedCommand::plain("vacuum")];
    Ok(Some(seen.advice(AdviceKind::DeadCells, None, what, figures, saves, remedy)))
}
