//! Intersections of a query's boxes with the tiles of a fragment.

use std::borrow::Cow;

use tdb_rtree::{BoxedTile, Boxes, Coverage, DimRange, NdRange, RTree};

/// Tiles that a query's boxes cover partly, each with the intersecting boxes.
#[derive(Debug, Default)]
pub(super) struct BoxedTiles {
    /// Partly covered tiles, ascending.
    tiles: Vec<u64>,
    /// Start of each tile's boxes within `boxes`, followed by the end of the last tile's boxes.
    starts: Vec<usize>,
    boxes: Vec<u32>,
}

/// Maximum number of stored pairs of tile and box. Further pairs are recomputed when their tile is
/// read.
const MOST_PAIRS: usize = 1 << 23;

impl BoxedTiles {
    /// Searches an R-tree for all boxes at once. Calls `found` for each tile that may hold a cell
    /// of a box, in ascending order. The second argument is `true` if a single box covers the tile.
    pub(super) fn search(rtree: &RTree, boxes: &Boxes, mut found: impl FnMut(u64, bool)) -> Self {
        let mut all = Self::default();
        rtree.search_boxes(boxes, &mut |tile: BoxedTile<'_>| {
            let full = tile.coverage == Coverage::Full;
            if !full && all.boxes.len().saturating_add(tile.boxes.len()) <= MOST_PAIRS {
                all.tiles.push(tile.tile);
                all.starts.push(all.boxes.len());
                all.boxes.extend_from_slice(tile.boxes);
            }
            found(tile.tile, full);
        });
        all.starts.push(all.boxes.len());
        all
    }

    /// Returns the boxes that intersect a tile's bounds, or `None` if a single box covers the tile.
    pub(super) fn of(&self, tile: u64, bounds: &NdRange, boxes: &Boxes) -> Option<Cow<'_, [u32]>> {
        if let Ok(place) = self.tiles.binary_search(&tile) {
            return Some(Cow::Borrowed(&self.boxes[self.starts[place]..self.starts[place + 1]]));
        }
        let meeting = boxes.meeting(bounds);
        (!boxes.cover(bounds, &meeting)).then_some(Cow::Owned(meeting))
    }
}

/// The checks required for a tile's cells.
#[derive(Debug)]
pub(super) struct Compared<'a> {
    /// Ranges to compare with the coordinates of each dimension, sorted and disjoint. `None` if all
    /// of the tile's coordinates are inside.
    pub(super) ranges: Vec<Option<Cow<'a, [DimRange]>>>,
    /// Projection of the boxes onto each dimension. `None` if all of the tile's coordinates are
    /// inside.
    pub(super) sides: Vec<Option<Vec<DimRange>>>,
    /// Boxes to compare with each cell. `None` if the projections suffice.
    pub(super) boxes: Option<Cow<'a, [u32]>>,
}

impl<'a> Compared<'a> {
    /// Checks nothing: every cell of the tile is in the selection.
    pub(super) fn nothing(dimensions: usize) -> Self {
        Self { ranges: vec![None; dimensions], sides: vec![None; dimensions], boxes: None }
    }

    /// Determines the checks for a tile with the given bounds.
    pub(super) fn of(bounds: &NdRange, regions: &'a [Vec<DimRange>], boxes: Option<(&Boxes, Cow<'a, [u32]>)>) -> Self {
        let unless_inside = |ranges: &'a [DimRange], bounds: &DimRange| {
            let inside = matches!(ranges, [only] if only.contains(bounds));
            (!inside).then_some(Cow::Borrowed(ranges))
        };
        let ranges = regions.iter().zip(&bounds.0);
        let ranges = ranges.map(|(ranges, bounds)| unless_inside(DimRange::narrowed(ranges, bounds), bounds)).collect();
        let mut compared = Self { ranges, sides: vec![None; regions.len()], boxes: None };
        if let Some((boxes, some)) = boxes {
            let sides = bounds.0.iter().enumerate().map(|(dimension, bounds)| {
                let ranges = boxes.along(dimension, &some);
                let inside = matches!(&ranges[..], [only] if only.contains(bounds));
                (!inside).then_some(ranges)
            });
            compared.sides = sides.collect();
            compared.boxes = (!boxes.are_product(&some)).then_some(some);
        }
        compared
    }

    /// Returns the range lists to compare with the coordinates of a dimension.
    pub(super) fn of_dimension(&self, dimension: usize) -> impl Iterator<Item = &[DimRange]> {
        [self.ranges[dimension].as_deref(), self.sides[dimension].as_deref()].into_iter().flatten()
    }

    /// Returns all dimensions in the best order to check: the most selective first, estimated from
    /// the tile's bounds. The next dimension checks only the remaining cells.
    pub(super) fn dimensions(&self, bounds: &NdRange) -> Vec<usize> {
        let share = |dimension: usize| {
            let shares = self.of_dimension(dimension).zip(bounds.0.get(dimension).into_iter().cycle());
            shares.map(|(ranges, bounds)| share_of(bounds, ranges)).fold(1.0, f64::min)
        };
        let mut shares: Vec<(f64, usize)> =
            (0..self.ranges.len()).map(|dimension| (share(dimension), dimension)).collect();
        shares.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        shares.into_iter().map(|(_, dimension)| dimension).collect()
    }

    /// Returns `true` if the coordinates of a dimension must be checked.
    pub(super) fn needs(&self, dimension: usize) -> bool {
        self.boxes.is_some()
            || self.ranges.get(dimension).is_none_or(Option::is_some)
            || self.sides.get(dimension).is_some_and(Option::is_some)
    }
}

/// Estimates which share of the coordinates within `bounds` is inside `ranges`, assuming an even
/// spread. Returns 1 if the share cannot be estimated.
fn share_of(bounds: &DimRange, ranges: &[DimRange]) -> f64 {
    let DimRange::Fixed { lo: first, hi: last } = bounds else { return 1.0 };
    /// Longer lists are sampled down to this number of ranges.
    const MOST: usize = 64;
    let inside = DimRange::narrowed(ranges, bounds);
    let step = inside.len().div_ceil(MOST).max(1);
    let inside = inside.iter().step_by(step).map(|range| match range {
        DimRange::Fixed { lo, hi } => (*hi.min(last)).saturating_sub(*lo.max(first)) as f64 + 1.0,
        DimRange::Var { .. } => 0.0,
    });
    inside.sum::<f64>() * step as f64 / (last.saturating_sub(*first) as f64 + 1.0)
}
