//! Verification of the MBRs of tiles, of the inner nodes of the R-tree, and of the non-empty
//! domain.

use std::sync::Arc;

use tdb_array::tdb_rtree::{DimRange, DimensionKind, NdRange, RTree};
use tdb_types::Feature;

use super::finding::{Finding, FindingKind, unreadable};
use super::fragment::Checked;
use super::report::Found;

/// Relation between a stored range and the range of the cells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    Same,
    /// A known deviation of some writers. Readers do not rely on the range.
    Known,
    Wrong,
}

/// The stored MBRs of a fragment, which are compared tile by tile with the MBRs of the coordinates.
pub(super) struct Boxes {
    file: String,
    kinds: Vec<DimensionKind>,
    tree: Arc<RTree>,
    /// Number of tiles so far.
    taken: u64,
    /// Number of MBRs with known deviations.
    known: u64,
    /// MBR of all cells so far.
    own: Option<NdRange>,
    /// `true` if all tiles so far were readable.
    is_complete: bool,
    found: Found,
}

impl Boxes {
    /// Reads the MBRs of a fragment. If the MBRs are unreadable, reports the error and returns
    /// `None`.
    pub(super) fn of(checked: &mut Checked<'_>) -> Option<Self> {
        let file = checked.metadata_file();
        let kinds = checked.fragment.schema().domain().kinds();
        let tree = checked.fragment.rtree().inspect_err(|error| checked.found.push(unreadable(&file, error))).ok()?;
        let found = Found::default();
        Some(Self { file, kinds, tree, taken: 0, known: 0, own: None, is_complete: true, found })
    }

    /// Compares the MBR of the next tile. `None` represents an unreadable tile.
    pub(super) fn take(&mut self, own: Option<&NdRange>) {
        let tile = self.taken;
        self.taken += 1;
        self.is_complete &= own.is_some();
        let Some(own) = own else { return };
        let stored = self.tree.mbr(tile).unwrap_or(NdRange(Vec::new()));
        match compare(&stored, self.tree.bounds(tile).as_ref(), own, &self.kinds) {
            Match::Same => {}
            Match::Known => self.known += 1,
            Match::Wrong => {
                let what = differs(&stored, own, &self.kinds);
                self.found.push(Finding::wrong(FindingKind::Mbr, self.file.as_str(), what).of_tile(tile));
            }
        }
        match &mut self.own {
            Some(all) => all.expand(own),
            none => *none = Some(own.clone()),
        }
    }

    /// Checks the inner nodes and the non-empty domain, after the MBRs of all tiles.
    pub(super) fn finish(self, checked: &mut Checked<'_>) {
        let Self { file, kinds, tree, known, own, is_complete, found, .. } = self;
        checked.found.append(found);
        if known > 0 {
            let what = format!(
                "MBRs of {known} tiles do not cover their cells; a known fault of the format's writers, which readers tolerate"
            );
            checked.found.push(Finding::note(FindingKind::Mbr, file.as_str(), what));
        }
        check_nodes(checked, &tree, &file);
        if let Some(own) = own.filter(|_| is_complete) {
            check_domain(checked, &own, &kinds, &file, known > 0);
        }
    }
}

fn compare(stored: &NdRange, bounds: Option<&NdRange>, own: &NdRange, kinds: &[DimensionKind]) -> Match {
    if stored == own {
        return Match::Same;
    }
    let (own, stored) = (own.widened(kinds), stored.widened(kinds));
    if own == stored {
        return Match::Same;
    }
    let Some(bounds) = bounds.filter(|bounds| bounds.0.len() == own.0.len() && stored.0.len() == own.0.len()) else {
        return Match::Wrong;
    };
    let along = |index: usize| match () {
        () if own.0[index] == stored.0[index] => Match::Same,
        () if bounds.0[index] == DimRange::everything(kinds[index]) => Match::Known,
        () => Match::Wrong,
    };
    (0..own.0.len()).map(along).max().unwrap_or(Match::Same)
}

fn differs(stored: &NdRange, own: &NdRange, kinds: &[DimensionKind]) -> String {
    format!("stored {}, computed from the cells {}", stored.display(kinds), own.display(kinds))
}

/// Checks the inner nodes, which follow from the MBRs of the tiles.
fn check_nodes(checked: &mut Checked<'_>, tree: &RTree, file: &str) {
    let Ok(built) = tree.rebuilt() else { return };
    if built == *tree {
        return;
    }
    let mut boxes = (0..tree.leaf_count()).filter_map(|tile| tree.mbr(tile));
    if tree.is_covering() && built.level_count() == tree.level_count() && boxes.any(|one| is_uncertain(checked, &one)) {
        let what = "inner nodes do not cover the tiles below them; a known fault of the format's writers, which readers tolerate";
        checked.found.push(Finding::note(FindingKind::RTree, file, what));
        return;
    }
    let same_shape = built.level_count() == tree.level_count();
    let what = match tree.is_covering() {
        true if same_shape => "inner nodes are larger than the MBRs of the tiles below them",
        true => "the number of levels does not fit the number of tiles",
        false => "an inner node does not cover the tiles below it",
    };
    checked.found.push(Finding::wrong(FindingKind::RTree, file, what));
}

/// Returns `true` if an MBR starts at the empty string, and the format's writers lose the end of
/// such a range.
fn is_uncertain(checked: &Checked<'_>, one: &NdRange) -> bool {
    let begins_empty = |range: &DimRange| matches!(range, DimRange::Var { lo, .. } if lo.is_empty());
    checked.fragment.footer().version().has(Feature::UncertainStringRanges) && one.0.iter().any(begins_empty)
}

fn check_domain(checked: &mut Checked<'_>, own: &NdRange, kinds: &[DimensionKind], file: &str, is_known: bool) {
    let Some(stored) = checked.fragment.non_empty_domain() else {
        let what = format!("stored none, computed from the cells {}", own.display(kinds));
        checked.found.push(Finding::wrong(FindingKind::NonEmptyDomain, file, what));
        return;
    };
    if stored == own || stored.widened(kinds) == own.widened(kinds) {
        return;
    }
    let what = differs(stored, own, kinds);
    checked.found.push(match is_known || is_uncertain(checked, own) {
        true => {
            Finding::note(FindingKind::NonEmptyDomain, file, format!("{what}; a known fault of the format's writers"))
        }
        false => Finding::wrong(FindingKind::NonEmptyDomain, file, what),
    });
}
