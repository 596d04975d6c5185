//! Whether the fragments that one consolidation wrote are all there.
//!
//! One to a bounded size writes several, one after the other in the order of cells. Only the first of them has a vacuum file, and
//! nothing names the others. Where one is lost together with its commit, what is left may still reach as far as all that it
//! replaces: then only the cells tell.

use tdb_array::{Array, ArrayError, Fragment, FragmentEntry};

use crate::draft::Reason;

/// Whether no cell of what a consolidation has replaced is missing in the sparse fragments that are left of it.
pub(super) fn are_all_there(
    array: &Array,
    (entries, new): (Vec<FragmentEntry>, &[Fragment]),
    replaced: Vec<FragmentEntry>,
) -> Result<(), Reason> {
    if array.schema().is_dense() || is_last(new) {
        return Ok(());
    }
    let unsound = |error| Reason::Unsound(Box::new(error));
    // What can't be read, as after a vacuum that was interrupted, says nothing.
    let cells = |entry: FragmentEntry| Some((array.fragment_of(&entry).ok()?.cell_count(), entry));
    let (counts, replaced): (Vec<u64>, Vec<FragmentEntry>) = replaced.into_iter().filter_map(cells).unzip();
    let before = counts.into_iter().fold(0, u64::saturating_add);
    if new.iter().fold(0, |sum: u64, fragment| sum.saturating_add(fragment.cell_count())) >= before {
        return Ok(());
    }
    // Older versions of cells may have been left out, and deleted ones: what shows by now has to be there.
    let all = entries.iter().chain(&replaced).cloned().collect();
    let shown = |entries| visible(&array.restricted_to(entries)).map_err(unsound);
    let there = shown(entries)?;
    // Where cells have no duplicates, those that both have show once.
    let with_replaced = shown(if array.schema().allows_duplicates() { replaced } else { all })?;
    match there < with_replaced {
        true => Err(Reason::Fewer { there, replaced: with_replaced }),
        false => Ok(()),
    }
}

/// Whether this is all that a consolidation wrote, by the end of the only fragment: all but the last of several end with a full
/// tile.
fn is_last(new: &[Fragment]) -> bool {
    let [only] = new else { return false };
    let last = only.tile_count().checked_sub(1).and_then(|last| only.cells_in_tile(last));
    last.is_some_and(|cells| cells < only.schema().capacity())
}

/// How many cells readers find.
fn visible(array: &Array) -> Result<u64, ArrayError> {
    let dimensions = array.schema().dimensions().iter().map(tdb_array::tdb_schema::Dimension::name);
    let mut cells = 0;
    for batch in array.read().select(dimensions)?.batches()? {
        cells += batch?.len() as u64;
    }
    Ok(cells)
}
