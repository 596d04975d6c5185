//! The distribution of work over the domain.

use std::collections::HashMap;

use tdb_query::{CheckedQuery, FragmentPlan};
use tdb_rtree::{DimRange, NdRange};
use tdb_snapshot::{Fragment, Result};

use super::cut::Weight;
use crate::read::plan_fragments;

/// The maximum number of weights of tiles. With more tiles, consecutive tiles are merged, because
/// each cut visits all weights.
const MOST_WEIGHTS: usize = 1 << 16;

/// Returns the tiles read by a query, with the cost of each: the bytes plus the number of cells.
/// For a dense array, also returns a weight for unwritten cells.
pub(super) fn weigh(query: &CheckedQuery, hull: &NdRange) -> Result<Vec<Weight>> {
    let regions = query.region.ranges();
    let plans = plan_fragments(query)?.0;
    let fragments = query.array.fragments()?;
    let fragments: HashMap<&str, &Fragment> = fragments.iter().map(|fragment| (fragment.folder(), fragment)).collect();
    let tiles: usize = plans.iter().map(|plan| plan.tiles.len()).sum();
    let together = tiles.div_ceil(MOST_WEIGHTS).max(1);
    let mut weights = Vec::new();
    for plan in &plans {
        if let Some(fragment) = fragments.get(plan.folder.as_str()) {
            add(plan, fragment, (regions, hull), together, &mut weights);
        }
    }
    if query.array.schema().is_dense() {
        // Unwritten cells also take time. In a large domain, unwritten cells may outnumber all
        // cells ever read. The weight of unwritten cells is capped at the weight of written cells.
        let written: f64 = weights.iter().map(|weight| weight.amount).sum();
        let cells = volume(regions);
        let amount = if weights.is_empty() { cells } else { cells.min(written) };
        weights.push(Weight { bounds: hull.clone(), amount });
    }
    Ok(weights)
}

fn add(
    plan: &FragmentPlan,
    fragment: &Fragment,
    (regions, hull): (&[Vec<DimRange>], &NdRange),
    together: usize,
    weights: &mut Vec<Weight>,
) {
    let cells: u64 = plan.tiles.iter().map(|tile| tile.cells).sum();
    let bytes: u64 = plan.reads.iter().map(tdb_query::FileReads::bytes).sum();
    let of_cell = 1.0 + bytes as f64 / (cells as f64).max(1.0);
    for tiles in plan.tiles.chunks(together) {
        let mut bounds: Option<NdRange> = None;
        for tile in tiles {
            let Some(wanted) = fragment.tile_box(tile.tile).and_then(|tile| wanted(&tile, regions, hull)) else {
                continue;
            };
            match &mut bounds {
                Some(bounds) => bounds.expand(&wanted),
                None => bounds = Some(wanted),
            }
        }
        let amount = tiles.iter().map(|tile| tile.cells).sum::<u64>() as f64 * of_cell;
        weights.extend(bounds.map(|bounds| Weight { bounds, amount }));
    }
}

/// Returns the smallest box around the selected part of a tile.
fn wanted(tile: &NdRange, regions: &[Vec<DimRange>], hull: &NdRange) -> Option<NdRange> {
    let tile = tile.intersection(hull)?;
    let side = |(side, ranges): (&DimRange, &Vec<DimRange>)| {
        let inside = DimRange::narrowed(ranges, side);
        let mut around = inside.first()?.clone();
        around.expand(inside.last()?);
        side.intersection(&around)
    };
    tile.0.iter().zip(regions).map(side).collect::<Option<_>>().map(NdRange)
}

/// Returns the approximate number of selected cells of a dense array.
fn volume(regions: &[Vec<DimRange>]) -> f64 {
    let cells = |range: &DimRange| match range {
        DimRange::Fixed { lo, hi } => (hi - lo) as f64 + 1.0,
        DimRange::Var { .. } => 1.0,
    };
    regions.iter().map(|ranges| ranges.iter().map(cells).sum::<f64>()).product()
}
