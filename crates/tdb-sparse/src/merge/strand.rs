//! Loaded tiles of a fragment, without overlap.

use tdb_cells::order::cell_order::CellOrder;
use tdb_cells::order::key::Key;

use super::super::keyed::Keyed;
use super::super::table::TileTable;
use super::lane::{Lane, Place};

/// Tiles of one fragment. Each tile is sorted and ends before the next tile begins.
///
/// A fragment stored in global order forms a single strand. Other fragments form as many strands as
/// necessary.
#[derive(Debug)]
pub(super) struct Strand<K> {
    pub(super) source: usize,
    /// Sorted, with the current tile first.
    pub(super) tiles: Vec<Keyed<K>>,
    /// Position of the next cell in the current tile.
    position: usize,
}

impl<K: Key> Strand<K> {
    pub(super) fn new(tile: Keyed<K>) -> Self {
        Self { source: tile.source, tiles: vec![tile], position: 0 }
    }

    /// Inserts a tile at the right place. Returns the tile if it overlaps with the strand, or
    /// precedes cells already emitted.
    pub(super) fn insert(&mut self, order: &CellOrder, tile: Keyed<K>) -> Option<Keyed<K>> {
        let place = self.tiles.partition_point(|other| other.is_before(order, &tile));
        let is_begun = place == 0 && self.position > 0;
        if is_begun || self.tiles.get(place).is_some_and(|next| !tile.is_before(order, next)) {
            return Some(tile);
        }
        self.tiles.insert(place, tile);
        None
    }

    /// Returns a lane over the remaining cells.
    pub(super) fn lane(&self) -> Lane<'_, K> {
        Lane::open(&self.tiles, Place { tile: 0, position: self.position })
    }

    /// Advances to a position. Passes completed tiles to `done`.
    pub(super) fn go_to(&mut self, place: Place, done: impl FnMut(Keyed<K>)) {
        let mut lane = Lane::open(&self.tiles, place);
        let all = lane.settle().is_none();
        let place = if all { Place { tile: self.tiles.len(), position: 0 } } else { lane.at };
        self.tiles.drain(..place.tile).for_each(done);
        self.position = place.position;
    }

    /// Removes the last tile if no cell of the tile was emitted. Returns the first key and the
    /// tile.
    pub(super) fn pop_untouched(&mut self) -> Option<(K, Keyed<K>)> {
        let is_untouched = self.tiles.len() > 1 || self.position == 0;
        let tile = self.tiles.pop_if(|_| is_untouched)?;
        Some((tile.keys.first().copied()?, tile))
    }

    /// Returns the first key of the last tile.
    pub(super) fn last_start(&self) -> Option<K> {
        self.tiles.last()?.keys.first().copied()
    }

    /// Estimates the bytes of the remaining cells in the result.
    pub(super) fn bytes_left(&self, tiles: &TileTable) -> usize {
        let bytes = |tile: &Keyed<K>| tile.len().saturating_mul(tiles.get(tile.slot).cell_bytes);
        let all = self.tiles.iter().map(bytes).fold(0, usize::saturating_add);
        let passed = self.tiles.first().map_or(0, |tile| self.position.saturating_mul(tiles.get(tile.slot).cell_bytes));
        all.saturating_sub(passed)
    }
}
