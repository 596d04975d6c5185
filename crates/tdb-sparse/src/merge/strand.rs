//! Tiles of a fragment at hand that follow one another in order.

use tdb_cells::order::cell_order::CellOrder;
use tdb_cells::order::key::Key;

use super::super::keyed::Keyed;
use super::super::table::TileTable;
use super::lane::{Lane, Place};

/// Tiles of one fragment, each of which is in order and ends before the next one begins.
///
/// All tiles of a fragment that is stored in global order are one strand. Of others there are as many as it takes.
#[derive(Debug)]
pub(super) struct Strand<K> {
    pub(super) source: usize,
    /// The current one first.
    tiles: Vec<Keyed<K>>,
    /// The next cell's position in the current tile.
    position: usize,
}

impl<K: Key> Strand<K> {
    pub(super) fn new(tile: Keyed<K>) -> Self {
        Self { source: tile.source, tiles: vec![tile], position: 0 }
    }

    /// Takes in a tile where it fits between the others; gives it back if it doesn't.
    pub(super) fn insert(&mut self, order: &CellOrder, tile: Keyed<K>) -> Option<Keyed<K>> {
        let place = self.tiles.partition_point(|other| other.is_before(order, &tile));
        let is_begun = place == 0 && self.position > 0;
        if is_begun || self.tiles.get(place).is_some_and(|next| !tile.is_before(order, next)) {
            return Some(tile);
        }
        self.tiles.insert(place, tile);
        None
    }

    /// The cells from where the merge stands.
    pub(super) fn lane(&self) -> Lane<'_, K> {
        Lane::open(&self.tiles, Place { tile: 0, position: self.position })
    }

    /// Goes on to a place among the tiles, and hands over those that it has passed.
    pub(super) fn go_to(&mut self, place: Place, done: impl FnMut(Keyed<K>)) {
        let mut lane = Lane::open(&self.tiles, place);
        let all = lane.settle().is_none();
        let place = if all { Place { tile: self.tiles.len(), position: 0 } } else { lane.at };
        self.tiles.drain(..place.tile).for_each(done);
        self.position = place.position;
    }

    /// Takes out the last tile with its first key, if none of its cells has been given away.
    pub(super) fn pop_untouched(&mut self) -> Option<(K, Keyed<K>)> {
        let is_untouched = self.tiles.len() > 1 || self.position == 0;
        let tile = self.tiles.pop_if(|_| is_untouched)?;
        Some((tile.keys.first().copied()?, tile))
    }

    /// The first key of the last tile.
    pub(super) fn last_start(&self) -> Option<K> {
        self.tiles.last()?.keys.first().copied()
    }

    pub(super) fn tiles(&self) -> &[Keyed<K>] {
        &self.tiles
    }

    pub(super) fn into_tiles(self) -> Vec<Keyed<K>> {
        self.tiles
    }

    /// About how many bytes the cells that are left take in the result.
    pub(super) fn bytes_left(&self, tiles: &TileTable) -> usize {
        let bytes = |tile: &Keyed<K>| tile.len().saturating_mul(tiles.get(tile.slot).cell_bytes);
        let all = self.tiles.iter().map(bytes).fold(0, usize::saturating_add);
        let passed = self.tiles.first().map_or(0, |tile| self.position.saturating_mul(tiles.get(tile.slot).cell_bytes));
        all.saturating_sub(passed)
    }
}
