//! The boxes around cells: of tiles, of the nodes above them, of the fragment.

use tdb_array::tdb_rtree::{DimRange, DimensionKind, NdRange, RTree};
use tdb_types::Feature;

use super::finding::{Finding, FindingKind, unreadable};
use super::fragment::Checked;
use super::tile::TileCoordinates;

/// How a stored range relates to the one that the cells give.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    Same,
    /// Not the same, but of a kind that writers are known to have stored, and that nobody relies on.
    Known,
    Wrong,
}

/// Compares what the coordinates of the tiles give with the stored boxes.
pub(super) fn check_boxes(checked: &mut Checked<'_>, tiles: &[Option<TileCoordinates>]) {
    let file = checked.metadata_file();
    let kinds = checked.fragment.schema().domain().kinds();
    let tree = match checked.fragment.rtree() {
        Ok(tree) => tree,
        Err(error) => {
            checked.found.push(unreadable(&file, &error));
            return;
        }
    };
    let mut known = 0;
    for (tile, own) in (0u64..).zip(tiles) {
        let Some(own) = own else { continue };
        let stored = tree.mbr(tile).unwrap_or(NdRange(Vec::new()));
        match compare(&stored, tree.bounds(tile).as_ref(), &own.mbr, &kinds) {
            Match::Same => {}
            Match::Known => known += 1,
            Match::Wrong => {
                let what = differs(&stored, &own.mbr, &kinds);
                checked.found.push(Finding::wrong(FindingKind::Mbr, file.as_str(), what).of_tile(tile));
            }
        }
    }
    if known > 0 {
        let what = format!("of {known} tiles not around their cells; known of the format's writers, and not relied on");
        checked.found.push(Finding::note(FindingKind::Mbr, file.as_str(), what));
    }
    check_nodes(checked, &tree, &kinds, &file);
    check_domain(checked, tiles, &kinds, &file, known > 0);
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
    format!("stored is {}, but the cells give {}", stored.display(kinds), own.display(kinds))
}

/// The nodes above the tiles, which follow from the tiles' boxes.
fn check_nodes(checked: &mut Checked<'_>, tree: &RTree, kinds: &[DimensionKind], file: &str) {
    let leaves: Vec<NdRange> = (0..tree.leaf_count()).filter_map(|tile| tree.mbr(tile)).collect();
    let Ok(built) = RTree::build(kinds, &leaves, tree.fanout()) else { return };
    if built == *tree {
        return;
    }
    if tree.is_covering() && built.level_count() == tree.level_count() && is_uncertain(checked, &leaves) {
        let what = "inner nodes not around the tiles below them; known of the format's writers, and not relied on";
        checked.found.push(Finding::note(FindingKind::RTree, file, what));
        return;
    }
    let same_shape = built.level_count() == tree.level_count();
    let what = match tree.is_covering() {
        true if same_shape => "inner nodes are larger than the tiles' boxes below them",
        true => "it has another number of levels than its tiles need",
        false => "an inner node doesn't bound the tiles below it",
    };
    checked.found.push(Finding::wrong(FindingKind::RTree, file, what));
}

/// Whether boxes over these begin at the empty string, of which old writers lose the other end.
fn is_uncertain(checked: &Checked<'_>, boxes: &[NdRange]) -> bool {
    let begins_empty = |range: &DimRange| matches!(range, DimRange::Var { lo, .. } if lo.is_empty());
    checked.fragment.footer().version().has(Feature::UncertainStringRanges)
        && boxes.iter().any(|own| own.0.iter().any(begins_empty))
}

fn check_domain(
    checked: &mut Checked<'_>,
    tiles: &[Option<TileCoordinates>],
    kinds: &[DimensionKind],
    file: &str,
    is_known: bool,
) {
    let mut boxes = tiles.iter().flatten().map(|tile| &tile.mbr);
    if tiles.iter().any(Option::is_none) {
        return;
    }
    let Some(mut own) = boxes.next().cloned() else { return };
    boxes.for_each(|next| own.expand(next));
    let Some(stored) = checked.fragment.non_empty_domain() else {
        let what = format!("none is stored, but the cells give {}", own.display(kinds));
        checked.found.push(Finding::wrong(FindingKind::NonEmptyDomain, file, what));
        return;
    };
    if *stored == own || stored.widened(kinds) == own.widened(kinds) {
        return;
    }
    let what = differs(stored, &own, kinds);
    checked.found.push(match is_known || is_uncertain(checked, &[own]) {
        true => Finding::note(FindingKind::NonEmptyDomain, file, format!("{what}; known of the format's writers")),
        false => Finding::wrong(FindingKind::NonEmptyDomain, file, what),
    });
}
