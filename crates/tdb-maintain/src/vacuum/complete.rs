//! Whether the fragments that consolidations wrote are all there.
//!
//! One to a bounded size writes several, one after the other in the order of cells. Only the first of them has a vacuum file, and
//! nothing names the others. Where one is lost together with its commit, what is left may still reach as far as all that it
//! replaces: then only the cells tell.

use std::collections::HashSet;

use tdb_array::tdb_rtree::NdRange;
use tdb_array::{Array, ArrayError, Fragment, FragmentEntry};

use crate::draft::Reason;

/// A fragment that others replace.
pub(super) struct Replaced {
    pub(super) entry: FragmentEntry,
    pub(super) domain: Option<NdRange>,
    pub(super) cells: u64,
}

/// Fragments that stand for others.
pub(super) struct New {
    pub(super) entries: Vec<FragmentEntry>,
    pub(super) fragments: Vec<Fragment>,
    /// Whether one consolidation wrote them.
    pub(super) is_of_one: bool,
}

/// Whether no cell of what was replaced is missing in the sparse fragments that stand for it. Of `again` the cells are in others
/// of those that were replaced, too.
pub(super) fn are_all_there(
    array: &Array,
    new: &New,
    replaced: &[Replaced],
    again: &HashSet<&str>,
) -> Result<(), Reason> {
    if array.schema().is_dense() || is_last(new) {
        return Ok(());
    }
    let is_once = |one: &&Replaced| !again.contains(one.entry.folder.as_str());
    // Fragments of the same times that others wrote don't make up for a lost one.
    let reaches = |fragment: &Fragment| {
        let own = fragment.non_empty_domain();
        own.is_some_and(|own| replaced.iter().filter_map(|one| one.domain.as_ref()).any(|other| own.intersects(other)))
    };
    let before = replaced.iter().filter(is_once).fold(0, |sum: u64, one| sum.saturating_add(one.cells));
    let there = new.fragments.iter().filter(|fragment| reaches(fragment));
    if there.fold(0, |sum: u64, fragment| sum.saturating_add(fragment.cell_count())) >= before {
        return Ok(());
    }
    // Older versions of cells may have been left out, and deleted ones: what shows at any time has to be there.
    let array = array.reopened().map_err(unsound)?;
    let shown = |entries| visible(&array.restricted_to(entries)).map_err(unsound);
    let entries_of = |some: &mut dyn Iterator<Item = &Replaced>| some.map(|one| one.entry.clone()).collect::<Vec<_>>();
    let (there, replaced) = if array.schema().allows_duplicates() {
        let both = new.entries.iter().zip(&new.fragments);
        let there = both.filter(|(_, fragment)| reaches(fragment)).map(|(entry, _)| entry.clone()).collect();
        (shown(there)?, shown(entries_of(&mut replaced.iter().filter(is_once)))?)
    } else {
        // Cells that both have show once.
        let all = new.entries.iter().cloned().chain(entries_of(&mut replaced.iter())).collect();
        (shown(new.entries.clone())?, shown(all)?)
    };
    match there < replaced {
        true => Err(Reason::Fewer { there, replaced }),
        false => Ok(()),
    }
}

/// Whether readers find no cell in fragments that nothing stands for: only a consolidation that left out deleted cells has left
/// none.
pub(super) fn show_nothing(array: &Array, replaced: Vec<FragmentEntry>) -> Result<(), Reason> {
    if replaced.is_empty() {
        return Ok(());
    }
    let array = array.reopened().map_err(unsound)?;
    match visible(&array.restricted_to(replaced)).map_err(unsound)? {
        0 => Ok(()),
        replaced => Err(Reason::Fewer { there: 0, replaced }),
    }
}

pub(super) fn unsound(error: ArrayError) -> Reason {
    Reason::Unsound(Box::new(error))
}

/// Whether this is all that a consolidation wrote, by the end of the only fragment: all but the last of several end with a full
/// tile.
fn is_last(new: &New) -> bool {
    let ([only], true) = (&new.fragments[..], new.is_of_one) else { return false };
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
