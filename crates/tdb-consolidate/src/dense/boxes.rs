//! Boxes of tiles of a dense array.

use tdb_fragment::DenseGrid;
use tdb_rtree::{DimRange, NdRange};
use tdb_types::{Layout, saturating_len};
use tdb_write::Target;

/// The first tile and the number of tiles along each dimension, relative to the grid of the new
/// fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TileBox(pub(super) Vec<(u64, u64)>);

impl TileBox {
    /// Returns the intersection of the tiles with the domain, and `true` if the tiles are
    /// completely within the domain.
    pub(super) fn region(&self, grid: &DenseGrid, target: &Target, domain: &NdRange) -> (NdRange, bool) {
        let dimensions = grid.dimensions().iter().zip(target.schema.dimensions());
        let mut is_whole = true;
        let ranges = dimensions.zip(&self.0).zip(&domain.0).map(|(((along, dimension), (first, count)), range)| {
            let (DimRange::Fixed { lo, hi }, Some((low, _))) = (range, dimension.domain_keys()) else {
                return range.clone();
            };
            let start = low + (along.first + first) * along.extent;
            let last = (along.first + first + count - 1) * along.extent + (along.extent - 1);
            is_whole &= start >= *lo && low.checked_add(last).is_some_and(|end| end <= *hi);
            DimRange::Fixed { lo: start.max(*lo), hi: low.saturating_add(last).min(*hi) }
        });
        let region = NdRange(ranges.collect());
        (region, is_whole)
    }

    /// Splits the box into two halves that are consecutive in tile order. Returns `None` if the box
    /// has a single tile.
    pub(super) fn halves(&self, order: Layout) -> Option<(Self, Self)> {
        let several = |along: &usize| self.0[*along].1 > 1;
        let along = match order {
            Layout::ColMajor => (0..self.0.len()).rev().find(several),
            _ => (0..self.0.len()).find(several),
        }?;
        let (first, count) = self.0[along];
        let (mut one, mut other) = (self.clone(), self.clone());
        one.0[along] = (first, count / 2);
        other.0[along] = (first + count / 2, count - count / 2);
        Some((one, other))
    }

    /// Iterates over the tiles in tile order. A tile is a list of its indices in the grid of the
    /// array, one per dimension.
    pub(super) fn tiles(&self, grid: &DenseGrid) -> impl Iterator<Item = Vec<u64>> {
        let count: u64 = self.0.iter().map(|(_, count)| count).product();
        let mut along: Vec<usize> = (0..self.0.len()).collect();
        if grid.order() != Layout::ColMajor {
            along.reverse();
        }
        (0..count).map(move |number| {
            let mut left = number;
            let mut tile = vec![0; self.0.len()];
            for &along in &along {
                let (first, count) = self.0[along];
                tile[along] = grid.dimensions()[along].first + first + left % count;
                left /= count;
            }
            tile
        })
    }
}

/// An iterator over boxes of tiles that are consecutive in tile order. Each box has as many tiles
/// as memory permits.
pub(super) struct Boxes {
    /// Dimensions with their numbers of tiles, slowest first.
    dimensions: Vec<(usize, u64)>,
    /// Index in `dimensions` of the dimension that is cut. A box has all tiles along faster
    /// dimensions, and one tile along slower dimensions.
    cut: usize,
    /// Tiles per box along the cut dimension.
    step: u64,
    next: Option<Vec<u64>>,
}

impl Boxes {
    pub(super) fn new(grid: &DenseGrid, target: &Target, budget: usize) -> Self {
        let mut dimensions: Vec<(usize, u64)> =
            grid.dimensions().iter().enumerate().map(|(index, along)| (index, along.count)).collect();
        if grid.order() == Layout::ColMajor {
            dimensions.reverse();
        }
        // The cells are in memory as query results, and as tiles before and after the filters.
        let tile = saturating_len(grid.cells_per_tile()).saturating_mul(target.cell_size()).saturating_mul(4).max(1);
        let mut tiles = (budget / tile).max(1) as u64;
        let mut cut = dimensions.len() - 1;
        while cut > 0 && dimensions[cut].1 <= tiles {
            tiles /= dimensions[cut].1;
            cut -= 1;
        }
        let next = Some(vec![0; cut + 1]);
        Self { step: tiles.min(dimensions[cut].1).max(1), dimensions, cut, next }
    }
}

impl Iterator for Boxes {
    type Item = TileBox;

    fn next(&mut self) -> Option<TileBox> {
        let at = self.next.take()?;
        let mut tiles = vec![(0, 0); self.dimensions.len()];
        for (place, (dimension, count)) in self.dimensions.iter().enumerate() {
            tiles[*dimension] = match place {
                place if place < self.cut => (at[place], 1),
                place if place == self.cut => (at[place], self.step.min(count - at[place])),
                _ => (0, *count),
            };
        }
        let mut after = at;
        after[self.cut] += self.step;
        for place in (0..=self.cut).rev() {
            if after[place] < self.dimensions[place].1 {
                self.next = Some(after);
                break;
            }
            after[place] = 0;
            if place > 0 {
                after[place - 1] += 1;
            }
        }
        Some(TileBox(tiles))
    }
}
