//! Which boxes of a query have something in common with which tiles of a fragment.

use std::borrow::Cow;

use tdb_rtree::{BoxedTile, Boxes, Coverage, DimRange, NdRange, RTree};

/// The tiles that boxes have something in common with, each with these boxes.
#[derive(Debug, Default)]
pub(super) struct BoxedTiles {
    /// The tiles that are wanted in part, ascending.
    tiles: Vec<u64>,
    /// Where their boxes begin in `boxes`, and where the last ones end.
    starts: Vec<usize>,
    boxes: Vec<u32>,
}

/// As many pairs of a tile and a box are kept; what is more is found once again when the tile is looked at.
const MOST_PAIRS: usize = 1 << 23;

impl BoxedTiles {
    /// Searches a tree for all boxes at once; calls `found` for tiles that may hold a cell in one of them, ascending, with whether
    /// one box has all of it.
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

    /// The boxes that have something in common with a tile's bounds; none if one of them has all of it.
    pub(super) fn of(&self, tile: u64, bounds: &NdRange, boxes: &Boxes) -> Option<Cow<'_, [u32]>> {
        if let Ok(place) = self.tiles.binary_search(&tile) {
            return Some(Cow::Borrowed(&self.boxes[self.starts[place]..self.starts[place + 1]]));
        }
        let meeting = boxes.meeting(bounds);
        (!boxes.cover(bounds, &meeting)).then_some(Cow::Owned(meeting))
    }
}

/// What must be looked at of a tile.
#[derive(Debug)]
pub(super) struct Compared<'a> {
    /// For each dimension the ranges that its coordinates are compared with, sorted and disjoint; none if all of the tile's lie in
    /// them.
    pub(super) ranges: Vec<Option<Cow<'a, [DimRange]>>>,
    /// For each dimension what boxes leave of that; none as well if all of the tile's coordinates lie in it.
    pub(super) sides: Vec<Option<Vec<DimRange>>>,
    /// The boxes that cells must be compared with one by one, if what they want isn't all that their sides have in common.
    pub(super) boxes: Option<Cow<'a, [u32]>>,
}

impl<'a> Compared<'a> {
    /// Of a tile all of which is wanted.
    pub(super) fn nothing(dimensions: usize) -> Self {
        Self { ranges: vec![None; dimensions], sides: vec![None; dimensions], boxes: None }
    }

    /// Of a tile with these bounds.
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

    /// What the coordinates of a dimension are compared with.
    pub(super) fn of_dimension(&self, dimension: usize) -> impl Iterator<Item = &[DimRange]> {
        [self.ranges[dimension].as_deref(), self.sides[dimension].as_deref()].into_iter().flatten()
    }

    /// All dimensions, in the order in which they are best looked at: first those of whose coordinates, as far as the tile's bounds
    /// tell, the least part is wanted. What they rule out isn't looked at again.
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

    /// Whether the coordinates of a dimension are looked at.
    pub(super) fn needs(&self, dimension: usize) -> bool {
        self.boxes.is_some()
            || self.ranges.get(dimension).is_none_or(Option::is_some)
            || self.sides.get(dimension).is_some_and(Option::is_some)
    }
}

/// Which part of the coordinates within bounds lies in ranges, if they are evenly spread; all of it where that can't be told.
fn share_of(bounds: &DimRange, ranges: &[DimRange]) -> f64 {
    let DimRange::Fixed { lo: first, hi: last } = bounds else { return 1.0 };
    /// Where there are more, those before and behind some of them tell enough.
    const MOST: usize = 64;
    let inside = DimRange::narrowed(ranges, bounds);
    let step = inside.len().div_ceil(MOST).max(1);
    let inside = inside.iter().step_by(step).map(|range| match range {
        DimRange::Fixed { lo, hi } => (*hi.min(last)).saturating_sub(*lo.max(first)) as f64 + 1.0,
        DimRange::Var { .. } => 0.0,
    });
    inside.sum::<f64>() * step as f64 / (last.saturating_sub(*first) as f64 + 1.0)
}
