//! Tiles not loaded by a merge yet.

use std::collections::VecDeque;

use tdb_cells::order::cell_order::CellOrder;
use tdb_cells::order::key::Key;

use super::super::context::Context;
use super::super::selected::{SelectedTile, Tiles};

/// Tiles to load, sorted by a lower bound of the keys.
///
/// Positions in the fragment do not determine this order: writers can disable the check for global
/// order.
#[derive(Debug)]
pub(super) struct Pending<K> {
    tiles: VecDeque<PendingTile<K>>,
}

/// A tile to load.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingTile<K> {
    /// Lower bound of the keys of the tile's matching cells.
    pub(super) low: K,
    pub(super) source: usize,
    pub(super) tile: SelectedTile,
}

impl<K: Key> Pending<K> {
    /// Sorts tiles by lower bounds computed from MBRs. Drops tiles without matching cells.
    pub(super) fn new(context: &Context, order: &CellOrder, tiles: &Tiles) -> Self {
        let pending = context.keys_of_bounds(order, tiles).filter_map(|((source, tile), ends)| {
            let (low, _) = ends?;
            Some(PendingTile { low, source: *source, tile: *tile })
        });
        let mut tiles: Vec<_> = pending.collect();
        tiles.sort_by_key(PendingTile::place);
        Self { tiles: tiles.into() }
    }

    /// Returns a lower bound of the keys of all tiles, or `None` if no tiles are left.
    pub(super) fn gate(&self) -> Option<K> {
        Some(self.tiles.front()?.low)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tiles.is_empty()
    }

    /// Removes and returns the tile with the lowest bound.
    pub(super) fn pop(&mut self) -> Option<PendingTile<K>> {
        self.tiles.pop_front()
    }

    /// Inserts a tile.
    pub(super) fn push(&mut self, tile: PendingTile<K>) {
        let place = self.tiles.partition_point(|other| other.place() < tile.place());
        self.tiles.insert(place, tile);
    }

    /// Returns all tiles with source indices.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, SelectedTile)> {
        self.tiles.iter().map(|pending| (pending.source, pending.tile))
    }
}

impl<K: Key> PendingTile<K> {
    fn place(&self) -> (K, usize, u64) {
        (self.low, self.source, self.tile.tile)
    }
}
