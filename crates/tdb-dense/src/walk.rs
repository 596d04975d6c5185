//! Enumeration of the tiles of a result.

use std::ops::Range;
use std::sync::Arc;

use crate::shape::Odometer;

/// The tiles of a result, each given by an index per dimension.
#[derive(Clone, Debug)]
pub(super) enum TileWalk {
    /// All tiles.
    All(Odometer),
    /// Selected tiles.
    Some(TileList),
}

/// A list of tiles of a grid.
#[derive(Clone, Debug)]
pub(super) struct TileList {
    grid: TileGrid,
    numbers: Arc<[u128]>,
    next: usize,
    at: Vec<u64>,
}

/// Numbering of the tiles of a box, in tile order.
#[derive(Clone, Debug)]
pub(super) struct TileGrid {
    pub(super) bounds: Vec<Range<u64>>,
    /// Dimensions, slowest first.
    order: Vec<usize>,
}

impl TileGrid {
    /// Returns `None` if the number of tiles exceeds a `u128`.
    pub(super) fn new(bounds: Vec<Range<u64>>, order: Vec<usize>) -> Option<Self> {
        let mut counts = bounds.iter().map(|range| u128::from(range.end.saturating_sub(range.start)));
        counts.try_fold(1_u128, u128::checked_mul)?;
        Some(Self { bounds, order })
    }

    pub(super) fn number(&self, tile: &[u64]) -> u128 {
        self.order.iter().fold(0, |number, &dimension| {
            let Range { start, end } = self.bounds[dimension];
            number * u128::from(end - start) + u128::from(tile[dimension] - start)
        })
    }

    pub(super) fn tile(&self, number: u128, tile: &mut Vec<u64>) {
        tile.resize(self.bounds.len(), 0);
        let mut rest = number;
        for &dimension in self.order.iter().rev() {
            let Range { start, end } = self.bounds[dimension];
            let count = u128::from(end - start).max(1);
            // The remainder is smaller than the length of the range, and fits into a `u64`.
            tile[dimension] = start + u64::try_from(rest % count).unwrap_or(0);
            rest /= count;
        }
    }
}

impl TileList {
    pub(super) fn new(grid: TileGrid, numbers: Vec<u128>) -> Self {
        let mut list = Self { grid, numbers: numbers.into(), next: 0, at: Vec::new() };
        list.look_up();
        list
    }

    fn look_up(&mut self) {
        if let Some(number) = self.numbers.get(self.next) {
            self.grid.tile(*number, &mut self.at);
        }
    }
}

impl TileWalk {
    /// Returns the current tile.
    pub(super) fn at(&self) -> Option<&[u64]> {
        match self {
            Self::All(tiles) => tiles.at(),
            Self::Some(list) => (list.next < list.numbers.len()).then_some(&list.at[..]),
        }
    }

    pub(super) fn advance(&mut self) {
        match self {
            Self::All(tiles) => tiles.advance(),
            Self::Some(list) => {
                list.next += 1;
                list.look_up();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_tile_order() {
        let grid = TileGrid::new(vec![2..5, 7..9], vec![1, 0]).unwrap();
        let mut tiles = Vec::new();
        let mut walk = TileWalk::Some(TileList::new(grid.clone(), (0..6).collect()));
        while let Some(tile) = walk.at() {
            assert_eq!(grid.number(tile), tiles.len() as u128);
            tiles.push((tile[0], tile[1]));
            walk.advance();
        }
        assert_eq!(tiles, [(2, 7), (3, 7), (4, 7), (2, 8), (3, 8), (4, 8)]);
        assert!(TileGrid::new(vec![0..u64::MAX; 3], vec![0, 1, 2]).is_none());
    }
}
