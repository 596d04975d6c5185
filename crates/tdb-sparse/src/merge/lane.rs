//! Cursors over sorted cells.

use tdb_cells::order::key::Key;

use super::super::keyed::Keyed;
use super::super::table::{Run, Runs, TileTable, runs_of};

/// A position within a sequence of tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) tile: usize,
    /// Position of the next cell in the tile. At the end of the tile, the number of cells.
    pub(super) position: usize,
}

/// Sorted cells, tile by tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane<'a, K> {
    tiles: &'a [Keyed<K>],
    /// Position of the next cell.
    pub(super) at: Place,
    end: Place,
}

impl<'a, K: Key> Lane<'a, K> {
    /// Starts a lane at a position. The lane ends with the last tile.
    pub(super) fn open(tiles: &'a [Keyed<K>], at: Place) -> Self {
        Self { tiles, at, end: Place { tile: tiles.len(), position: 0 } }
    }

    /// Returns the part of the lane between two positions.
    pub(super) fn between(&self, at: Place, end: Place) -> Self {
        Self { tiles: self.tiles, at, end }
    }

    /// Returns the key of the next cell, or `None` at the end. Advances to the next tile if
    /// necessary.
    #[inline]
    pub(super) fn settle(&mut self) -> Option<K> {
        loop {
            if self.at >= self.end {
                return None;
            }
            let current = self.tiles.get(self.at.tile)?;
            if let Some(key) = current.keys.get(self.at.position) {
                return Some(*key);
            }
            self.at = Place { tile: self.at.tile + 1, position: 0 };
        }
    }

    /// Returns the tile and the index of the next cell. Call [`settle`](Self::settle) first.
    pub(super) fn current(&self) -> Option<(&'a Keyed<K>, u32)> {
        let current = self.tiles.get(self.at.tile)?;
        (self.at.position < current.len()).then(|| (current, current.cell(self.at.position)))
    }

    /// Returns the keys from the next cell up to a position, tile by tile.
    pub(super) fn keys_until(&self, end: Place) -> impl Iterator<Item = &'a [K]> {
        let at = self.at;
        let tiles = self.tiles.iter().enumerate().skip(at.tile).take((end.tile + 1).saturating_sub(at.tile));
        tiles.map(move |(index, tile)| {
            let start = if index == at.tile { at.position } else { 0 };
            let stop = if index == end.tile { end.position } else { tile.len() };
            tile.keys.get(start..stop).unwrap_or_default()
        })
    }

    /// Returns the number of remaining cells.
    pub(super) fn len(&self) -> usize {
        self.keys_until(self.end).map(<[K]>::len).sum()
    }

    /// Returns the position of the first cell, from `from` on, with a key of at least `key`.
    pub(super) fn place_of(&self, key: K, from: Place) -> Place {
        let tiles = self.tiles.get(from.tile..).unwrap_or_default();
        let below = tiles.partition_point(|tile| tile.keys.last().is_some_and(|last| *last < key));
        let place = match tiles.get(below) {
            Some(tile) => {
                let position = tile.keys.partition_point(|other| *other < key);
                Place { tile: from.tile + below, position }
            }
            None => self.last_place(),
        };
        place.max(from)
    }

    /// Returns the position after the last loaded cell.
    pub(super) fn last_place(&self) -> Place {
        match self.tiles.split_last() {
            Some((last, others)) => Place { tile: others.len(), position: last.len() },
            None => Place::default(),
        }
    }

    /// Returns how many of the tile's next cells have keys below `limit`, at least 1.
    pub(super) fn before(&self, limit: K) -> usize {
        let keys = self.rest_of_tile().map_or(&[][..], |tile| &tile.keys[self.at.position..self.stop(tile)]);
        if keys.get(1).is_none_or(|key| *key >= limit) {
            return 1;
        }
        // Exponential search, since runs are short if fragments interleave.
        let mut step = 2;
        while keys.get(step).is_some_and(|key| *key < limit) {
            step *= 2;
        }
        let (low, high) = (step / 2, step.min(keys.len()));
        low + keys[low..high].partition_point(|key| *key < limit)
    }

    /// Appends up to `count` of the tile's next cells to the runs, except cells marked as deleted.
    pub(super) fn give(&mut self, count: usize, tiles: &TileTable, runs: &mut Runs) {
        let Some(current) = self.rest_of_tile() else { return };
        let start = self.at.position;
        let end = start.saturating_add(count).min(self.stop(current));
        self.at.position = end;
        let bytes = tiles.get(current.slot).cell_bytes;
        if current.has_deleted() {
            let shown: Vec<u32> =
                (start..end).map(|position| current.cell(position)).filter(|cell| !current.is_deleted(*cell)).collect();
            runs_of(current.slot, &shown).for_each(|run| runs.push(run, bytes));
        } else if let Some(cells) = current.cells(start..end) {
            runs_of(current.slot, cells).for_each(|run| runs.push(run, bytes));
        } else if let (Ok(start), Ok(len)) = (u32::try_from(start), u32::try_from(end - start)) {
            runs.push(Run { slot: current.slot, start, len }, bytes);
        }
    }

    /// Returns the current tile unless exhausted.
    fn rest_of_tile(&self) -> Option<&'a Keyed<K>> {
        self.tiles.get(self.at.tile).filter(|tile| self.at.position < self.stop(tile))
    }

    /// Returns the end of the lane's cells in the current tile.
    fn stop(&self, tile: &Keyed<K>) -> usize {
        if self.at.tile == self.end.tile { self.end.position } else { tile.len() }
    }
}
