//! Advice on the order of cells: how many tiles a query of a narrow range reads.

use std::ops::Bound;
use std::sync::Arc;

use tdb_array::tdb_rtree::{DimRange, RTree};
use tdb_types::Layout;

use crate::advice::{Advice, AdviceKind, AdvisedCommand, Figure, FigureUnit};
use crate::costs::{SHARE, percent, scaled};
use crate::seen::Seen;
use tdb_job::Result;

/// Number of positions along a dimension for trying a narrow range.
const RANGES: u64 = 32;
/// Maximum number of examined tiles.
const TILES: u64 = 1 << 20;
/// Minimum number of tiles in an examined fragment.
const FEW: u64 = 16;

/// Returns advice on a sparse array whose tiles span most of a dimension.
pub(super) fn order(seen: &Seen) -> Result<Option<Advice>> {
    let schema = seen.schema();
    if schema.is_dense() || schema.dim_count() < 2 || schema.cell_order() == Layout::Hilbert {
        return Ok(None);
    }
    let fragments = seen.fragments()?;
    let mut trees: Vec<Arc<RTree>> = Vec::new();
    let mut tiles = 0_u64;
    for number in &seen.chosen {
        let fragment = &fragments[*number];
        // No order can separate the cells of a fragment with few tiles.
        if fragment.tile_count() < FEW || tiles.saturating_add(fragment.tile_count()) > TILES {
            continue;
        }
        tiles += fragment.tile_count();
        trees.push(fragment.rtree()?);
    }
    if trees.is_empty() {
        return Ok(None);
    }
    let touched: Vec<u64> = (0..schema.dim_count()).map(|dimension| share(&trees, dimension, tiles)).collect();
    let Some((worst, most)) = touched.iter().copied().enumerate().max_by_key(|(_, share)| *share) else {
        return Ok(None);
    };
    // Prediction for a space-filling curve: of t tiles in d dimensions, a narrow range touches
    // about t^(1-1/d) tiles and their neighbors.
    let each = tiles / trees.len() as u64;
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // an estimate
    let then = (2.0 * 100.0 * (each as f64).powf(-1.0 / schema.dim_count() as f64)).ceil() as u64;
    if most < 50 || then >= most {
        return Ok(None);
    }
    let saves = seen.costs.of(0, scaled(seen.stored, most - then, 100));
    if saves < seen.costs.of(0, seen.stored) / u32::try_from(SHARE).unwrap_or(1) {
        return Ok(None);
    }
    let name = |dimension: usize| schema.dimensions()[dimension].name();
    let others: Vec<String> = (touched.iter().enumerate())
        .filter(|(dimension, _)| *dimension != worst)
        .map(|(dimension, share)| format!("{:?} {share}%", name(dimension)))
        .collect();
    let what = format!(
        "a query of 1% of the range of {:?} reads {most}% of the tiles (other dimensions: {}): the cell order favors the other dimensions. If queries restrict this dimension, migrate to Hilbert order, which serves all dimensions equally",
        name(worst),
        others.join(", ")
    );
    let figures = vec![Figure::new("tiles touched by 1% of the range", FigureUnit::Percent, most, then)];
    let remedy = vec![AdvisedCommand::new("migrate", ["--cell-order", "hilbert"])];
    Ok(Some(seen.advice(AdviceKind::Order, Some(name(worst)), what, figures, saves, remedy)))
}

/// Returns the average percentage of tiles that intersect a range of one percent of a dimension.
fn share(trees: &[Arc<RTree>], dimension: usize, tiles: u64) -> u64 {
    let (mut touched, mut asked) = (0_u64, 0_u64);
    for tree in trees {
        let Some(hull) = tree.hull() else { continue };
        let Some((low, high)) = hull.0.get(dimension).map(ends) else { continue };
        if low == high && matches!(hull.0.get(dimension), Some(DimRange::Var { .. })) {
            // All strings have the same first eight bytes, and `ends` ignores the rest.
            continue;
        }
        let mut starts: Vec<(u64, u64)> = Vec::new();
        for tile in 0..tree.leaf_count() {
            let Some(mbr) = tree.mbr(tile) else { continue };
            starts.extend(mbr.0.get(dimension).map(ends));
        }
        let step = (high - low) / 100;
        for place in 0..RANGES {
            let from = low + scaled(high - low - step, place, RANGES - 1);
            let to = from + step;
            touched += starts.iter().filter(|(lo, hi)| *lo <= to && *hi >= from).count() as u64;
            asked += starts.len() as u64;
        }
    }
    if tiles == 0 || asked == 0 { 0 } else { percent(touched, asked) }
}

/// Returns the ends of a range as numbers. A string becomes the number in its first eight bytes.
fn ends(range: &DimRange) -> (u64, u64) {
    let number = |text: &[u8]| {
        let mut bytes = [0; 8];
        let len = text.len().min(8);
        bytes[..len].copy_from_slice(&text[..len]);
        u64::from_be_bytes(bytes)
    };
    match range {
        DimRange::Fixed { lo, hi } => (*lo, *hi),
        DimRange::Var { lo, hi: Bound::Included(hi) | Bound::Excluded(hi) } => (number(lo), number(hi)),
        DimRange::Var { lo, hi: Bound::Unbounded } => (number(lo), u64::MAX),
    }
}
