//! Checks that the results of a consolidation are complete.
//!
//! A consolidation with a maximum fragment size writes several fragments in global order. Only the
//! first fragment has a vacuum file, and no file lists the other fragments. If one of them is lost
//! together with its commit, the remaining fragments may still cover the domain. In this case, only
//! the number of cells reveals the loss.

use std::collections::HashSet;

use tdb_array::tdb_rtree::NdRange;
use tdb_array::{Array, ArrayError, Fragment, FragmentEntry};

use crate::draft::Reason;

/// A replaced fragment.
pub(super) struct Replaced {
    pub(super) entry: FragmentEntry,
    pub(super) domain: Option<NdRange>,
    pub(super) cells: u64,
    /// Total size of the files in bytes, if known.
    pub(super) bytes: Option<u64>,
}

/// The fragments that replace other fragments.
pub(super) struct New {
    pub(super) entries: Vec<FragmentEntry>,
    pub(super) fragments: Vec<Fragment>,
    /// `true` if all fragments come from a single consolidation.
    pub(super) is_of_one: bool,
}

/// Checks that the new sparse fragments contain every replaced cell. The cells of fragments in
/// `again` are also stored in other replaced fragments, and therefore not counted again.
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
    // Do not count unrelated fragments of the same time range, because they cannot compensate for a
    // lost fragment.
    let reaches = |fragment: &Fragment| {
        let own = fragment.non_empty_domain();
        own.is_some_and(|own| replaced.iter().filter_map(|one| one.domain.as_ref()).any(|other| own.intersects(other)))
    };
    let before = replaced.iter().filter(is_once).fold(0, |sum: u64, one| sum.saturating_add(one.cells));
    let there = new.fragments.iter().filter(|fragment| reaches(fragment));
    if there.fold(0, |sum: u64, fragment| sum.saturating_add(fragment.cell_count())) >= before {
        return Ok(());
    }
    // The consolidation may have left out older versions and deleted cells. Therefore compare the
    // numbers of visible cells.
    let array = array.reopened().map_err(unsound)?;
    let shown = |entries| visible(&array.restricted_to(entries)).map_err(unsound);
    let entries_of = |some: &mut dyn Iterator<Item = &Replaced>| some.map(|one| one.entry.clone()).collect::<Vec<_>>();
    let (there, replaced) = if array.schema().allows_duplicates() {
        let both = new.entries.iter().zip(&new.fragments);
        let there = both.filter(|(_, fragment)| reaches(fragment)).map(|(entry, _)| entry.clone()).collect();
        (shown(there)?, shown(entries_of(&mut replaced.iter().filter(is_once)))?)
    } else {
        // Cells in both sets are visible only once.
        let all = new.entries.iter().cloned().chain(entries_of(&mut replaced.iter())).collect();
        (shown(new.entries.clone())?, shown(all)?)
    };
    match there < replaced {
        true => Err(Reason::Fewer { there, replaced }),
        false => Ok(()),
    }
}

/// Checks that readers find no cell in fragments that no new fragment replaces. Such a
/// consolidation must have been a purge of all cells.
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

/// Returns `true` if a single consolidation wrote only one fragment. If a consolidation writes
/// several fragments, all fragments except for the last end with a full tile.
fn is_last(new: &New) -> bool {
    let ([only], true) = (&new.fragments[..], new.is_of_one) else { return false };
    let last = only.tile_count().checked_sub(1).and_then(|last| only.cells_in_tile(last));
    last.is_some_and(|cells| cells < only.schema().capacity())
}

/// Returns the number of visible cells.
fn visible(array: &Array) -> Result<u64, ArrayError> {
    let dimensions = array.schema().dimensions().iter().map(tdb_array::tdb_schema::Dimension::name);
    let mut cells = 0;
    for batch in array.read().select(dimensions)?.batches()? {
        cells += batch?.len() as u64;
    }
    Ok(cells)
}
