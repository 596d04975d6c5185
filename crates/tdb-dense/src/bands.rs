//! Division of a result into batches. A batch is a box with cells that are consecutive in result
//! order.

use crate::axis::Axis;
use crate::shape::Positions;

/// A box of positions, and the progress of batches within the box.
#[derive(Clone, Debug)]
pub(super) struct Bands {
    bounds: Positions,
    /// Order of the result, slowest dimension first.
    order: Vec<usize>,
    /// For each dimension of `order`, `true` if bands that end within tiles share few chunks.
    cheap: Vec<bool>,
    /// Position of the next cell along each dimension.
    next: Vec<u128>,
    pub(super) ended: bool,
}

/// A batch of [`Bands`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Band {
    pub(super) positions: Positions,
    /// `true` if the band has up to [`STRETCH`] times as many cells as requested.
    pub(super) stretched: bool,
}

/// Factor by which a batch may exceed its target size. Applies if the batch would otherwise end
/// within tiles and the next batch would unfilter all chunks again, or if the batch would otherwise
/// have fewer rows of tiles than threads.
pub(super) const STRETCH: u128 = 4;

impl Bands {
    /// Starts at the first cell of `bounds`. `order` is the order of the result, and `cell_order`
    /// the order in tiles. Both list the slowest dimension first.
    pub(super) fn new(bounds: Positions, order: Vec<usize>, axes: &[Axis], cell_order: &[usize]) -> Self {
        let next = bounds.iter().map(|range| range.start).collect();
        let ended = bounds.iter().any(|range| range.start >= range.end);
        // Consecutive cells of the result are consecutive in tiles too, as far as the two orders
        // agree. Dimensions along which tiles have a single cell do not matter.
        let long = |dimension: &&usize| axes[**dimension].extent > 1;
        let mut in_tiles = cell_order.iter().filter(long);
        let mut agree = true;
        let agrees = |dimension: &usize| {
            agree = agree && (!long(&dimension) || in_tiles.next() == Some(dimension));
            agree
        };
        let cheap = order.iter().map(agrees).collect();
        Self { bounds, order, cheap, next, ended }
    }

    /// Returns the next batch of at most `most` cells, but at least one cell. A stretched batch has
    /// up to [`STRETCH`] times as many cells. Returns `None` at the end.
    ///
    /// The batch extends along the slowest dimension with slices of at most `most` cells,
    /// preferably to the end of a tile. Batches within a tile have about equal sizes. If `threads`
    /// threads would unfilter the same chunks after a division within tiles, the batch preferably
    /// has a row of tiles for each thread.
    pub(super) fn peek(&self, axes: &[Axis], most: u128, threads: usize) -> Option<Band> {
        if self.ended {
            return None;
        }
        let (level, positions) = self.band(axes, most);
        let dimension = self.order[level];
        let end = positions[dimension].end;
        let within = end < self.bounds[dimension].end && axes[dimension].piece_end(end - 1) != end;
        let cut_again = within || level > 0 && positions != self.bounds;
        let rows = axes[dimension].piece_count(positions[dimension].clone());
        let too_few = rows < threads as u128 && end < self.bounds[dimension].end;
        let factor = match (cut_again, too_few) {
            _ if self.cheap[level] => 1,
            (true, _) => STRETCH,
            (false, true) => STRETCH.min(threads as u128),
            (false, false) => 1,
        };
        let positions = if factor > 1 { self.band(axes, most.saturating_mul(factor)).1 } else { positions };
        let stretched = factor > 1;
        Some(Band { positions, stretched })
    }

    /// Returns the batch of at most `most` cells, and the level in `order` of the dimension along
    /// which it extends.
    fn band(&self, axes: &[Axis], most: u128) -> (usize, Positions) {
        let (level, slice) = self.level(most);
        let dimension = self.order[level];
        let start = self.next[dimension];
        let end = end_of_band(&axes[dimension], start, self.bounds[dimension].end, (most / slice).max(1));
        let mut band = self.bounds.clone();
        for &slower in &self.order[..level] {
            band[slower] = self.next[slower]..self.next[slower] + 1;
        }
        band[dimension] = start..end;
        (level, band)
    }

    /// Advances past a batch returned by [`peek`](Self::peek).
    pub(super) fn advance(&mut self, band: &Positions) {
        // The batch extends along the fastest dimension with incomplete coverage, or along the
        // slowest.
        let is_all = |dimension: &&usize| band[**dimension] == self.bounds[**dimension];
        let faster = self.order.iter().rev().take_while(is_all).count();
        for level in (0..self.order.len().saturating_sub(faster)).rev() {
            let dimension = self.order[level];
            self.next[dimension] = band[dimension].end;
            if self.next[dimension] < self.bounds[dimension].end {
                return;
            }
            self.next[dimension] = self.bounds[dimension].start;
        }
        self.ended = true;
    }

    /// Returns the level in `order` along which to extend, and the number of cells of a slice
    /// across that dimension.
    fn level(&self, most: u128) -> (usize, u128) {
        let mut slice = 1u128;
        let mut level = self.order.len() - 1;
        while level > 0 {
            let dimension = self.order[level];
            // A slice must begin at the start of all faster dimensions.
            if self.next[dimension] != self.bounds[dimension].start {
                break;
            }
            let larger = slice.saturating_mul(self.bounds[dimension].end - self.bounds[dimension].start);
            if larger > most {
                break;
            }
            slice = larger;
            level -= 1;
        }
        (level, slice)
    }
}

/// Returns the end of a band that begins at `start` and has at most `most` slices, up to `end`.
fn end_of_band(axis: &Axis, start: u128, end: u128, most: u128) -> u128 {
    if end - start <= most {
        return end;
    }
    if let Some(cut) = axis.last_cut(start..start + most) {
        return cut;
    }
    let rest = axis.piece_end(start).min(end) - start;
    start + rest.div_ceil(rest.div_ceil(most))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tdb_rtree::DimRange;
    use tdb_schema::Dimension;

    use super::*;
    use crate::shape::volume;

    fn axis(extent: u64, (lo, hi): (u64, u64)) -> Axis {
        let dimension = Dimension::new("d", 0u64..=1000);
        Axis::new(&dimension.with_tile(extent), &[DimRange::Fixed { lo, hi }])
    }

    fn all(bands: Bands, axes: &[Axis], most: u128) -> Vec<Positions> {
        all_for(bands, axes, most, 1)
    }

    fn all_for(mut bands: Bands, axes: &[Axis], most: u128, threads: usize) -> Vec<Positions> {
        let mut all = Vec::new();
        while let Some(band) = bands.peek(axes, most, threads) {
            bands.advance(&band.positions);
            all.push(band.positions);
        }
        assert!(bands.ended);
        all
    }

    #[test]
    fn bands_end_with_tiles_if_possible() {
        let axes = [axis(10, (5, 44)), axis(10, (0, 9))];
        let bounds = vec![0..40, 0..10];
        let rows = |bands: Vec<Positions>| bands.into_iter().map(|band| band[0].clone()).collect::<Vec<_>>();
        let bands = Bands::new(bounds.clone(), vec![0, 1], &axes, &[0, 1]);
        assert_eq!(rows(all(bands.clone(), &axes, 1000)), vec![0..40; 1]);
        assert_eq!(rows(all(bands.clone(), &axes, 160)), [0..15, 15..25, 25..40]);
        assert_eq!(rows(all(bands.clone(), &axes, 70)), [0..5, 5..10, 10..15, 15..20, 20..25, 25..30, 30..35, 35..40]);
        let cells = all(bands, &axes, 1);
        assert_eq!(cells.len(), 400);
        assert_eq!(cells[13], vec![1..2, 3..4]);
        // Column-major: the second dimension is the slower one.
        let columns = all(Bands::new(bounds.clone(), vec![1, 0], &axes, &[1, 0]), &axes, 90);
        assert_eq!(columns[0], vec![0..40, 0..2]);
        // If tiles have another cell order, a batch may be four times larger to reach the end of a
        // tile.
        let rows_of_columns = Bands::new(bounds, vec![0, 1], &axes, &[1, 0]);
        assert_eq!(rows(all(rows_of_columns.clone(), &axes, 40)), [0..15, 15..25, 25..40]);
        assert_eq!(rows(all(rows_of_columns.clone(), &axes, 10))[..3], [0..3, 3..5, 5..9]);
        // A batch has a row of tiles for each thread.
        assert_eq!(rows(all_for(rows_of_columns.clone(), &axes, 100, 1)), [0..5, 5..15, 15..25, 25..35, 35..40]);
        assert_eq!(rows(all_for(rows_of_columns.clone(), &axes, 100, 2)), [0..15, 15..35, 35..40]);
        assert_eq!(rows(all_for(rows_of_columns, &axes, 100, 8)), [0..40; 1]);
    }

    proptest! {
        #[test]
        fn bands_cover_the_result_in_order(
            lens in prop::collection::vec((1u64..9, 0u64..5, 1u64..6), 1..4),
            (col_major, tiles_differ) in any::<(bool, bool)>(),
            most in 1u128..200,
            threads in 1usize..4,
        ) {
            let axes: Vec<Axis> =
                lens.iter().map(|&(len, lo, extent)| axis(extent, (lo, lo + len - 1))).collect();
            let bounds: Positions = axes.iter().map(|axis| 0..axis.len()).collect();
            let mut order: Vec<usize> = (0..axes.len()).collect();
            if col_major {
                order.reverse();
            }
            let mut cell_order = order.clone();
            if tiles_differ {
                cell_order.reverse();
            }
            let most_of_all = if tiles_differ { most * STRETCH } else { most };
            let number = |cell: &[u128]| {
                order.iter().fold(0, |number, &dimension| number * bounds[dimension].end + cell[dimension])
            };
            let mut expected = 0;
            for band in all_for(Bands::new(bounds.clone(), order.clone(), &axes, &cell_order), &axes, most, threads) {
                prop_assert!(volume(&band) <= most_of_all);
                let first: Vec<u128> = band.iter().map(|range| range.start).collect();
                let last: Vec<u128> = band.iter().map(|range| range.end - 1).collect();
                prop_assert_eq!(number(&first), expected);
                expected += volume(&band);
                prop_assert_eq!(number(&last) + 1, expected);
            }
            prop_assert_eq!(expected, volume(&bounds));
        }
    }
}
