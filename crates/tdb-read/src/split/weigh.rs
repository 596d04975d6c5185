//! How much there is to read where.

use std::collections::HashMap;

use tdb_query::{CheckedQuery, FragmentPlan};
use tdb_rtree::{DimRange, NdRange};
use tdb_snapshot::{Fragment, Result};

use super::cut::Weight;
use crate::read::plan_fragments;

/// Of more tiles neighbours are taken together: it takes long to look at them again and again.
const MOST_WEIGHTS: usize = 1 << 16;

/// The tiles that a query reads, with what reading each of them takes: its bytes, and as many as it has cells.
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
        // Cells that nobody wrote have to be made too. Of a large domain there may be more than anybody reads: they count no
        // more than what was written.
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

/// The smallest box that holds what is asked for of a tile.
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

/// About how many cells of a dense array are asked for.
fn volume(regions: &[Vec<DimRange>]) -> f64 {
    let cells = |range: &DimRange| match range {
        DimRange::Fixed { lo, hi } => (hi - lo) as f64 + 1.0,
        DimRange::Var { .. } => 1.0,
    };
    regions.iter().map(|ranges| ranges.iter().map(cells).sum::<f64>()).product()
}
