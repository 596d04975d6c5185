//! Assignment of tiles to engines.

use std::ops::Bound;

use tdb_cells::Order;
use tdb_cells::order::cell_order::{CellOrder, global_order};
use tdb_cells::order::key::Key;
use tdb_rtree::{DimRange, NdRange};
use tdb_snapshot::Result;

use crate::context::Context;
use crate::engine::Engine;
use crate::merge::Merge;
use crate::selected::{SelectedTile, Tiles};
use crate::slabs::Slabs;
use crate::stored_order::is_stored_otherwise;
use crate::stream::Stream;
use crate::table::{RunQueue, TileTable};

/// The tiles of each engine.
#[derive(Debug)]
pub(super) struct Choice {
    /// Tiles to emit first, tile by tile.
    pub(super) streamed: Tiles,
    /// Tiles apparently stored in the requested order. The order is checked during the read.
    pub(super) in_order: Tiles,
    /// Tiles to merge in global order.
    pub(super) merged: Tiles,
    /// Tiles to sort.
    pub(super) sorted: Tiles,
}

impl Choice {
    pub(super) fn of(context: &Context) -> Result<Self> {
        let all = || -> Tiles {
            let sources = context.sources.iter().enumerate();
            sources.flat_map(|(index, source)| source.tiles.iter().map(move |tile| (index, *tile))).collect()
        };
        let [streamed, in_order, merged, sorted] = [const { Vec::new() }; 4];
        let none = Self { streamed, in_order, merged, sorted };
        if context.sources.iter().all(|source| source.tiles.is_empty()) {
            return Ok(none);
        }
        Ok(match context.order {
            Order::Unordered if !context.must_deduplicate() => Self { streamed: all(), ..none },
            Order::Global if is_stored_otherwise(context) => Self { sorted: all(), ..none },
            Order::Unordered => {
                let mut left = MOST_COMPARISONS;
                let is_alone = |(source, tile): &(usize, SelectedTile)| is_alone(context, *source, tile, &mut left);
                let (streamed, others) = all().into_iter().partition(is_alone);
                match is_stored_otherwise(context) {
                    true => Self { streamed, sorted: others, ..none },
                    false => Self { streamed, merged: others, ..none },
                }
            }
            Order::RowMajor | Order::ColMajor if is_stored_otherwise(context) || !is_global_order(context)? => {
                Self { sorted: all(), ..none }
            }
            _ if context.sources.len() <= 1 && !context.must_deduplicate() => Self { in_order: all(), ..none },
            _ => Self { merged: all(), ..none },
        })
    }
}

/// Creates the engine for the chosen tiles, except the tiles in [`Choice::in_order`].
pub(super) fn engine(context: &Context, choice: Choice) -> Result<Box<dyn Engine>> {
    let Choice { streamed, merged, sorted, in_order: _ } = choice;
    let ordered: Option<Box<dyn Engine>> = if !merged.is_empty() {
        Some(merging(context, &merged)?)
    } else if !sorted.is_empty() {
        // For an unordered read, row-major is the cheapest sort order.
        let order = if context.order == Order::Unordered { Order::RowMajor } else { context.order };
        let order = CellOrder::new(context.array.schema(), order, &bounds(context, &sorted))?;
        Some(match order.bits() <= <u64 as Key>::BITS {
            true => slabs::<u64>(context, order, &sorted),
            false => slabs::<u128>(context, order, &sorted),
        })
    } else {
        None
    };
    let stream = Box::new(Stream::new(streamed));
    Ok(match ordered {
        Some(ordered) => Box::new(Chain { engines: [stream, ordered] }),
        None => stream,
    })
}

/// Creates an engine to merge tiles.
pub(super) fn merging(context: &Context, tiles: &Tiles) -> Result<Box<dyn Engine>> {
    let order = CellOrder::new(context.array.schema(), Order::Global, &bounds(context, tiles))?;
    Ok(match order.bits() <= <u64 as Key>::BITS {
        true => Box::new(Merge::<u64>::new(context, order, tiles)),
        false => Box::new(Merge::<u128>::new(context, order, tiles)),
    })
}

fn slabs<K: Key>(context: &Context, order: CellOrder, tiles: &Tiles) -> Box<dyn Engine> {
    Box::new(Slabs::<K>::new(context, order, tiles, None))
}

/// Two engines in sequence.
#[derive(Debug)]
struct Chain {
    engines: [Box<dyn Engine>; 2],
}

impl Engine for Chain {
    fn fill(&mut self, context: &Context, tiles: &mut TileTable, queue: &mut RunQueue) -> Result<bool> {
        let [first, second] = &mut self.engines;
        Ok(first.fill(context, tiles, queue)? || second.fill(context, tiles, queue)?)
    }
}

/// Returns a bounding box of the tiles' matching cells. Without such cells, returns the first
/// requested range of each dimension.
pub(super) fn bounds(context: &Context, tiles: &Tiles) -> Vec<DimRange> {
    let mut boxes = tiles.iter().filter_map(|(source, tile)| context.bounds(*source, tile.tile));
    let Some(NdRange(first)) = boxes.next() else {
        return context.regions.iter().filter_map(|ranges| ranges.first().cloned()).collect();
    };
    let mut union = NdRange(first);
    boxes.for_each(|next| union.expand(&next));
    union.0
}

/// Maximum number of R-tree nodes to compare to find tiles that need no merge. Takes a fraction of
/// a second. Usually a few nodes per tile and fragment suffice. If inner nodes overlap, all may be
/// needed.
pub(super) const MOST_COMPARISONS: u64 = 1 << 26;

/// Returns `true` if no cell outside of the tile can share coordinates with a cell of the tile.
/// Returns `false` if the budget `left` does not suffice to exclude this.
pub(super) fn is_alone(context: &Context, source: usize, tile: &SelectedTile, left: &mut u64) -> bool {
    let own = &context.sources[source];
    if own.times.is_some() {
        return false;
    }
    if context.apart.get(source).is_some_and(|apart| *apart) {
        return true;
    }
    if *left == 0 {
        return false;
    }
    let mbr: Vec<Vec<DimRange>> = own.mbr(tile.tile).0.into_iter().map(|range| vec![range]).collect();
    let mut others = context.sources.iter().enumerate().filter(|(other, _)| *other != source);
    others.all(|(_, fragment)| !fragment.may_intersect(&mbr, left))
}

/// Returns `true` if the requested order equals the global order for all matching cells.
fn is_global_order(context: &Context) -> Result<bool> {
    let schema = context.array.schema();
    let global = global_order(schema)?;
    if global.hilbert().is_some() {
        return Ok(false);
    }
    let tiles: Tiles = context
        .sources
        .iter()
        .enumerate()
        .flat_map(|(index, source)| source.tiles.iter().map(move |tile| (index, *tile)))
        .collect();
    let bounds = bounds(context, &tiles);
    let is_constant = |dimension: usize| match &bounds[dimension] {
        DimRange::Fixed { lo, hi } => lo == hi,
        DimRange::Var { lo, hi } => hi.as_ref() == Bound::Included(lo),
    };
    let mut asked: Vec<usize> = (0..schema.dim_count()).collect();
    if context.order == Order::ColMajor {
        asked.reverse();
    }
    asked.retain(|dimension| !is_constant(*dimension));
    let cells = global.cell_dimensions().iter().copied().filter(|dimension| !is_constant(*dimension));
    if !cells.eq(asked.iter().copied()) {
        return Ok(false);
    }
    let is_one_tile = |dimension: usize| match &bounds[dimension] {
        DimRange::Fixed { lo, hi } => {
            let tiling = schema.dimensions()[dimension].tiling();
            tiling.index(*lo) == tiling.index(*hi)
        }
        DimRange::Var { .. } => true,
    };
    // Space tiles do not change the order if every dimension with several space tiles, except the
    // last, has a single coordinate per tile.
    let tiled: Vec<usize> = global.tile_dimensions().into_iter().filter(|dimension| !is_one_tile(*dimension)).collect();
    let single = |dimension: &usize| schema.dimensions()[*dimension].extent_cells() == Some(1);
    let leading = tiled.split_last().is_none_or(|(_, leading)| leading.iter().all(single));
    Ok(leading && asked.starts_with(&tiled))
}
