//! Tiles that a merge hasn't at hand.

use std::collections::VecDeque;

use tdb_cells::order::cell_order::CellOrder;
use tdb_cells::order::key::Key;

use super::super::context::Context;
use super::super::selected::{SelectedTile, Tiles};

/// Tiles to come, by the least key that a cell of theirs can have.
///
/// Where tiles lie in their fragments says nothing of it: writers could be set not to check the order.
#[derive(Debug)]
pub(super) struct Pending<K> {
    tiles: VecDeque<PendingTile<K>>,
}

/// A tile to come.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingTile<K> {
    /// A key not above that of any wanted cell.
    pub(super) low: K,
    pub(super) source: usize,
    pub(super) tile: SelectedTile,
}

impl<K: Key> Pending<K> {
    /// Tiles whose cells have bounds that the MBRs give.
    pub(super) fn new(context: &Context, order: &CellOrder, tiles: &Tiles) -> Self {
        let pending = context.keys_of_bounds(order, tiles).filter_map(|((source, tile), ends)| {
            let (low, _) = ends?;
            Some(PendingTile { low, source: *source, tile: *tile })
        });
        let mut tiles: Vec<_> = pending.collect();
        tiles.sort_by_key(PendingTile::place);
        Self { tiles: tiles.into() }
    }

    /// A key not above that of any cell of the tiles; none if there are no tiles.
    pub(super) fn gate(&self) -> Option<K> {
        Some(self.tiles.front()?.low)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tiles.is_empty()
    }

    /// Takes out the tile whose turn may come first.
    pub(super) fn pop(&mut self) -> Option<PendingTile<K>> {
        self.tiles.pop_front()
    }

    /// Takes in a tile.
    pub(super) fn push(&mut self, tile: PendingTile<K>) {
        let place = self.tiles.partition_point(|other| other.place() < tile.place());
        self.tiles.insert(place, tile);
    }

    /// All tiles, each with the index of its source.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, SelectedTile)> {
        self.tiles.iter().map(|pending| (pending.source, pending.tile))
    }
}

impl<K: Key> PendingTile<K> {
    fn place(&self) -> (K, usize, u64) {
        (self.low, self.source, self.tile.tile)
    }
}
