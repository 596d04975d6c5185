//! A dimension of a result: the requested ranges in ascending order, cut at tile boundaries.

use std::ops::Range;

use tdb_rtree::DimRange;
use tdb_schema::Dimension;

/// A dimension of a query's result.
///
/// *Cells* are counted from the low end of the domain. *Positions* are counted from the first cell
/// of the first requested range. A domain can have 2^64 cells, so positions are `u128`.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Ordered key of the low end of the domain.
    low: u64,
    /// Cells per space tile.
    pub(super) extent: u64,
    /// Requested ranges, ascending, with gaps in between.
    stretches: Vec<Stretch>,
    len: u128,
}

/// A requested range.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    first: u64,
    position: u128,
    len: u128,
}

/// The part of a range within one space tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Index of the tile in the grid of the domain.
    pub(super) tile: u64,
    /// First cell, relative to the tile.
    pub(super) offset: u64,
    /// Number of cells.
    pub(super) len: usize,
    /// First position, relative to the requested positions.
    pub(super) position: usize,
}

impl Stretch {
    fn cells(&self) -> Range<u128> {
        u128::from(self.first)..u128::from(self.first) + self.len
    }
}

impl Axis {
    /// Creates the axis of a dimension. `ranges` must ascend and must not be adjacent. Dimensions
    /// of dense arrays hold integers or times.
    pub(super) fn new(dimension: &Dimension, ranges: &[DimRange]) -> Self {
        let (low, high) = dimension.domain_keys().unwrap_or_default();
        let extent = dimension.extent_cells().unwrap_or(u64::MAX).max(1);
        let mut axis = Self { low, extent, stretches: Vec::new(), len: 0 };
        for range in ranges {
            let (lo, hi) = match *range {
                DimRange::Fixed { lo, hi } => (lo.max(low), hi.min(high)),
                DimRange::Var { .. } => (low, high),
            };
            if lo <= hi {
                let len = u128::from(hi - lo) + 1;
                axis.stretches.push(Stretch { first: lo - low, position: axis.len, len });
                axis.len += len;
            }
        }
        axis
    }

    /// Returns the number of positions.
    pub(super) fn len(&self) -> u128 {
        self.len
    }

    /// Returns the first and the last tile of the range, or `None` if there is not exactly one
    /// range.
    pub(super) fn tiles(&self) -> Option<(u64, u64)> {
        match self.stretches[..] {
            [Stretch { first, len, .. }] => Some((first / self.extent, cell_at(first, len - 1) / self.extent)),
            _ => None,
        }
    }

    /// Returns the cells of the range, or `None` if there is not exactly one range.
    pub(super) fn cells(&self) -> Option<Range<u128>> {
        match self.stretches[..] {
            [stretch] => Some(stretch.cells()),
            _ => None,
        }
    }

    /// Returns the position of a cell. Valid for a single range only.
    pub(super) fn position_of(&self, cell: u64) -> u128 {
        u128::from(cell.saturating_sub(self.stretches.first().map_or(0, |stretch| stretch.first)))
    }

    /// Returns the positions inside a tile. Valid for a single range only.
    pub(super) fn positions_in(&self, tile: u64) -> Range<u128> {
        let Some(Stretch { first, len, .. }) = self.stretches.first() else { return 0..0 };
        let start = u128::from(tile) * u128::from(self.extent);
        let first = u128::from(*first);
        let end = (start + u128::from(self.extent)).min(first + len);
        start.saturating_sub(first)..end.saturating_sub(first)
    }

    /// Returns the pieces of `positions`, in order. The number of pieces must fit into a `usize`.
    pub(super) fn pieces(&self, positions: Range<u128>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut at = positions.start;
        for (stretch, tile, offset, len) in self.walk(positions.clone()) {
            debug_assert!(stretch.position <= at);
            let piece = Piece { tile, offset, len: to_usize(len), position: to_usize(at - positions.start) };
            pieces.push(piece);
            at += len;
        }
        pieces
    }

    /// Returns the last end of a piece within `positions`, `positions.end` included. Returns `None`
    /// if no piece ends within `positions`.
    pub(super) fn last_cut(&self, positions: Range<u128>) -> Option<u128> {
        let index = self.stretch_at(positions.end.checked_sub(1)?);
        let stretch = self.stretches.get(index)?;
        // The start of the tile that contains the last position, or the start of the range.
        let cell = cell_at(stretch.first, positions.end - 1 - stretch.position);
        let back = u128::from(cell % self.extent);
        let start = (positions.end - 1).saturating_sub(back).max(stretch.position);
        let ends_here = self.piece_end(positions.end - 1) == positions.end;
        let cut = if ends_here { positions.end } else { start };
        (cut > positions.start).then_some(cut)
    }

    /// Returns the end of the piece that contains `position`.
    pub(super) fn piece_end(&self, position: u128) -> u128 {
        let Some(stretch) = self.stretches.get(self.stretch_at(position)) else { return self.len };
        let cell = cell_at(stretch.first, position - stretch.position);
        let rest = u128::from(self.extent - cell % self.extent);
        (position + rest).min(stretch.position + stretch.len)
    }

    /// Returns the number of pieces of `positions`.
    pub(super) fn piece_count(&self, positions: Range<u128>) -> u128 {
        let extent = u128::from(self.extent);
        let first = self.stretch_at(positions.start);
        let stretches = self.stretches.get(first..).unwrap_or_default();
        let inside = stretches.iter().take_while(|stretch| stretch.position < positions.end);
        let count = |stretch: &Stretch| {
            let start = positions.start.max(stretch.position) - stretch.position;
            let end = positions.end.min(stretch.position + stretch.len) - stretch.position;
            let first = u128::from(stretch.first);
            (first + end - 1) / extent - (first + start) / extent + 1
        };
        inside.map(count).sum()
    }

    /// Returns the pieces within `cells`, tile by tile, each cell once. The positions of the pieces
    /// are not set.
    pub(super) fn pieces_within(&self, cells: &Range<u128>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let extent = u128::from(self.extent);
        let first = self.stretches.partition_point(|stretch| stretch.cells().end <= cells.start);
        for range in self.stretches[first..].iter().map(Stretch::cells).take_while(|range| range.start < cells.end) {
            let (mut at, end) = (range.start.max(cells.start), range.end.min(cells.end));
            while at < end {
                let (tile, offset) = (at / extent, at % extent);
                let len = (extent - offset).min(end - at);
                // Cell numbers fit into a `u64`.
                pieces.push(Piece { tile: tile as u64, offset: offset as u64, len: to_usize(len), position: 0 });
                at += len;
            }
        }
        pieces
    }

    /// Returns `true` if all cells of a tile are requested.
    pub(super) fn has_all_of(&self, tile: u64) -> bool {
        let start = u128::from(tile) * u128::from(self.extent);
        let end = start + u128::from(self.extent);
        let begun = self.stretches.partition_point(|stretch| stretch.cells().start <= start);
        begun.checked_sub(1).is_some_and(|last| end <= self.stretches[last].cells().end)
    }

    /// Appends the ordered keys of the coordinates at `positions`.
    pub(super) fn keys(&self, positions: Range<u128>, keys: &mut Vec<u64>) {
        for (_, tile, offset, len) in self.walk(positions) {
            let first = self.low + (tile * self.extent + offset);
            keys.extend((0..to_usize(len) as u64).map(|cell| first + cell));
        }
    }

    /// Iterates over the pieces of `positions`: the range, the tile, the offset within the tile,
    /// and the length.
    fn walk(&self, positions: Range<u128>) -> impl Iterator<Item = (&Stretch, u64, u64, u128)> {
        let mut index = self.stretch_at(positions.start);
        let mut at = positions.start;
        std::iter::from_fn(move || {
            let stretch = self.stretches.get(index).filter(|_| at < positions.end)?;
            let end = stretch.position + stretch.len;
            let cell = cell_at(stretch.first, at - stretch.position);
            let (tile, offset) = (cell / self.extent, cell % self.extent);
            let len = u128::from(self.extent - offset).min(end.min(positions.end) - at);
            at += len;
            index += usize::from(at == end);
            Some((stretch, tile, offset, len))
        })
    }

    /// Returns the index of the range that contains `position`.
    fn stretch_at(&self, position: u128) -> usize {
        self.stretches.partition_point(|stretch| stretch.position + stretch.len <= position)
    }
}

/// Returns the cell at a distance from `first`. Both cells are inside the domain, so that their
/// numbers fit into a `u64`.
fn cell_at(first: u64, distance: u128) -> u64 {
    first.saturating_add(u64::try_from(distance).unwrap_or(u64::MAX))
}

/// Converts a length within a batch, which always fits.
fn to_usize(len: u128) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use tdb_types::Scalar;

    use super::*;

    fn axis(low: i64, high: i64, extent: i64, ranges: &[(i64, i64)]) -> Axis {
        let dimension = Dimension::new("d", low..=high);
        let key = |value| Scalar::I64(value).key();
        let ranges: Vec<_> = ranges.iter().map(|&(lo, hi)| DimRange::Fixed { lo: key(lo), hi: key(hi) }).collect();
        Axis::new(&dimension.with_tile(extent), &ranges)
    }

    fn piece(tile: u64, offset: u64, len: usize, position: usize) -> Piece {
        Piece { tile, offset, len, position }
    }

    #[test]
    fn ranges_are_cut_where_tiles_end() {
        let axis = axis(-5, 100, 10, &[(-5, -5), (3, 15), (17, 17)]);
        assert_eq!(axis.len(), 15);
        let all = [piece(0, 0, 1, 0), piece(0, 8, 2, 1), piece(1, 0, 10, 3), piece(2, 0, 1, 13), piece(2, 2, 1, 14)];
        assert_eq!(axis.pieces(0..15), all);
        assert_eq!(axis.piece_count(0..15), 5);
        assert_eq!(axis.pieces(2..5), [piece(0, 9, 1, 0), piece(1, 0, 2, 1)]);
        assert_eq!(axis.piece_count(2..5), 2);
        assert_eq!(axis.piece_end(2), 3);
        assert_eq!(axis.piece_end(4), 13);
        assert_eq!(axis.last_cut(0..5), Some(3));
        assert_eq!(axis.last_cut(0..13), Some(13));
        assert_eq!(axis.last_cut(3..12), None);
        let mut keys = Vec::new();
        axis.keys(0..4, &mut keys);
        assert_eq!(keys, [-5, 3, 4, 5].map(|value| Scalar::I64(value).key()));
    }

    #[test]
    fn the_largest_domain() {
        let axis = axis(i64::MIN, i64::MAX, i64::MAX, &[(i64::MIN, i64::MAX)]);
        assert_eq!(axis.len(), 1 << 64);
        let end = axis.len();
        let extent = i64::MAX as u64;
        assert_eq!(axis.pieces(end - 3..end), [piece(1, extent - 1, 1, 0), piece(2, 0, 2, 1)]);
        assert_eq!(axis.piece_count(0..end), 3);
        assert_eq!(axis.extent, extent);
        assert_eq!(axis.piece_end(0), u128::from(extent));
    }

    #[test]
    fn tiles_of_one_range() {
        let axis = axis(1, 100, 10, &[(15, 42)]);
        assert_eq!(axis.tiles(), Some((1, 4)));
        assert_eq!(axis.positions_in(1), 0..6);
        assert_eq!(axis.positions_in(2), 6..16);
        assert_eq!(axis.positions_in(4), 26..28);
    }
}
