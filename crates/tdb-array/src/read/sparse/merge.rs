//! Merging fragments in global order.

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::Engine;
use super::context::Context;
use super::key::Key;
use super::keyed::Keyed;
use super::order::CellOrder;
use super::source::SelectedTile;
use super::table::{Run, RunQueue, TileTable};
use crate::Result;

/// Merges the tiles of several fragments, each of which is in global order, and drops all but the newest of cells with
/// equal coordinates unless duplicates are allowed.
///
/// Of each fragment one tile's keys are at hand, and not before its MBR says that the tile's turn may have come, or is
/// among the next that several threads load together. Cells move in runs: the fragment with the lowest cell gives all
/// that are below the next fragment's lowest.
#[derive(Debug)]
pub(super) struct Merge<K> {
    order: CellOrder,
    cursors: Vec<Cursor<K>>,
    heads: Heads<K>,
    deduplicate: bool,
    /// Memory for cursors whose next cells are equal.
    equal: Vec<usize>,
}

/// Where the cursors stand that have cells left, the lowest last.
///
/// Keys lie apart from the rest so that many are compared at once.
#[derive(Debug)]
struct Heads<K> {
    keys: Vec<K>,
    rest: Vec<(bool, usize)>,
}

/// Where the merge stands in a fragment.
#[derive(Debug)]
struct Cursor<K> {
    source: usize,
    /// Tiles to come, each with a key that is not above that of any wanted cell in it or in the tiles behind it.
    tiles: VecDeque<(K, SelectedTile)>,
    /// Tiles at hand, the current one first.
    loaded: VecDeque<Keyed<K>>,
    /// The next cell's position in the current tile.
    position: usize,
}

/// The lowest place of cells that a cursor has left.
#[derive(Clone, Copy, Debug)]
struct Head<K> {
    /// The key of the next cell, or one not above it while its tile isn't at hand.
    key: K,
    at_hand: bool,
    cursor: usize,
}

impl<K: Key> Merge<K> {
    /// `tiles` are sorted by source, then by tile.
    pub(super) fn new(context: &Context, order: CellOrder, tiles: &[(usize, SelectedTile)]) -> Self {
        let by_source = tiles.chunk_by(|a, b| a.0 == b.0);
        let cursors = by_source.filter_map(|tiles| {
            let source = tiles.first()?.0;
            let mut lowest = K::HIGHEST;
            // A tile may turn out to have none of the wanted cells, and then the next one's may be lower than its box is.
            let with_key = |(_, tile): &(usize, SelectedTile)| {
                let bounds = context.bounds(source, tile.tile);
                lowest = lowest.min(bounds.map_or_else(K::default, |bounds| order.lowest(&bounds.0)));
                (lowest, *tile)
            };
            let mut tiles: VecDeque<_> = tiles.iter().rev().map(with_key).collect();
            tiles.make_contiguous().reverse();
            Some(Cursor { source, tiles, loaded: VecDeque::new(), position: 0 })
        });
        let cursors: Vec<_> = cursors.collect();
        let heads = Heads { keys: Vec::new(), rest: Vec::new() };
        let mut merge = Self { order, cursors, heads, deduplicate: !context.allows_duplicates(), equal: Vec::new() };
        for cursor in 0..merge.cursors.len() {
            merge.await_next_tile(cursor);
        }
        merge
    }

    #[inline]
    fn insert(&mut self, head: Head<K>) {
        let mut place = self.heads.above(head.key);
        // Heads with the same key are rare.
        while let Some(other) = self.heads.get(place)
            && other.key == head.key
            && self.compare_same_key(&other, &head).is_gt()
        {
            place += 1;
        }
        self.heads.insert(place, head);
    }

    /// Takes a cursor among the heads by what is known of its next tile.
    fn await_next_tile(&mut self, cursor: usize) {
        if let Some((key, _)) = self.cursors[cursor].tiles.front() {
            self.insert(Head { key: *key, at_hand: false, cursor });
        }
    }

    /// Loads the next tile of a fragment, and of as many others as threads can share, those first that come first.
    fn load(&mut self, context: &Context, tiles: &mut TileTable, cursor: usize) -> Result<()> {
        let threads = context.array.workers().threads();
        let mut cursors = vec![cursor];
        self.heads.take_waiting(threads - 1, &mut cursors);
        let each = threads / cursors.len();
        let mut jobs = Vec::with_capacity(threads);
        for cursor in &cursors {
            let from = &mut self.cursors[*cursor];
            let count = each.min(from.tiles.len());
            jobs.extend(from.tiles.drain(..count).map(|(_, tile)| (*cursor, from.source, tile)));
        }
        let order = &self.order;
        let bytes = jobs.iter().map(|(.., tile)| u64::from(tile.cells) * 16).sum();
        let loaded = context.array.workers().map(bytes, jobs, |(cursor, source, tile), scratch| {
            let (mut keyed, fields) = Keyed::load(context, order, source, &tile, scratch)?;
            keyed.make_mergeable(order);
            Ok((cursor, tile, keyed, fields))
        })?;
        for (cursor, tile, mut keyed, fields) in loaded.into_iter().filter(|(.., keyed, _)| keyed.len() > 0) {
            keyed.slot = tiles.add(context, keyed.source, tile.tile, tile.cells);
            tiles.get_mut(keyed.slot).hold(fields);
            self.cursors[cursor].loaded.push_back(keyed);
        }
        cursors.into_iter().for_each(|cursor| self.settle(tiles, cursor));
        Ok(())
    }

    /// Takes a cursor among the heads by its next cell, if there is one.
    fn settle(&mut self, tiles: &mut TileTable, index: usize) {
        loop {
            let cursor = &mut self.cursors[index];
            if let Some(key) = cursor.loaded.front().and_then(|current| current.keys.get(cursor.position)) {
                let head = Head { key: *key, at_hand: true, cursor: index };
                return self.insert(head);
            }
            // The last cell of a tile has to be compared with the first one of the next.
            if cursor.loaded.len() <= 1 && !cursor.tiles.is_empty() {
                return self.await_next_tile(index);
            }
            let Some(done) = cursor.loaded.pop_front() else { return };
            let next = cursor.loaded.front();
            cursor.position = usize::from(next.is_some_and(|next| is_continued(&self.order, &done, next)));
            tiles.close(done.slot);
        }
    }

    /// Compares heads with equal keys by their cells' coordinates as far as they are at hand, then by age. A tile that isn't
    /// at hand comes first: what it has may be lower.
    fn compare_same_key(&self, a: &Head<K>, b: &Head<K>) -> Ordering {
        let coordinates = || self.compare_equal(a.cursor, b.cursor);
        a.at_hand.cmp(&b.at_hand).then_with(coordinates).then(a.cursor.cmp(&b.cursor))
    }

    /// Compares the next cells of two cursors, whose keys are equal.
    fn compare_equal(&self, a: usize, b: usize) -> Ordering {
        match (self.cursors[a].current(), self.cursors[b].current()) {
            (Some((a, cell)), Some((b, other))) => a.compare_equal(&self.order, cell, b, other),
            _ => Ordering::Equal,
        }
    }

    /// Gives cells of the cursor with the lowest next cell, and moves on.
    fn step(&mut self, tiles: &mut TileTable, queue: &mut RunQueue, head: Head<K>) {
        let (count, tie) = match self.heads.last() {
            None => (usize::MAX, false),
            Some(next) if next.key == head.key => (1, self.compare_equal(head.cursor, next.cursor).is_eq()),
            Some(next) => (self.cursors[head.cursor].before(next.key), false),
        };
        if tie && self.deduplicate {
            self.resolve(tiles, queue, head);
        } else {
            self.cursors[head.cursor].give(count, tiles, queue);
            self.settle(tiles, head.cursor);
        }
    }

    /// Gives the newest of several cells with equal coordinates, unless it stands for a deletion.
    fn resolve(&mut self, tiles: &mut TileTable, queue: &mut RunQueue, head: Head<K>) {
        let mut equal = std::mem::take(&mut self.equal);
        equal.clear();
        equal.push(head.cursor);
        while let Some(next) = self.heads.last()
            && next.key == head.key
            && self.compare_equal(head.cursor, next.cursor).is_eq()
        {
            equal.push(next.cursor);
            self.heads.pop();
        }
        let version = |cursor: &usize| self.cursors[*cursor].current().map(|(current, cell)| current.version(cell));
        let newest = equal.iter().copied().max_by_key(version);
        for &cursor in &equal {
            if Some(cursor) == newest {
                self.cursors[cursor].give(1, tiles, queue);
            } else {
                self.cursors[cursor].position += 1;
            }
            self.settle(tiles, cursor);
        }
        self.equal = equal;
    }
}

impl<K: Key> Engine for Merge<K> {
    fn fill(&mut self, context: &Context, tiles: &mut TileTable, queue: &mut RunQueue) -> Result<bool> {
        while queue.bytes() < context.budget
            && let Some(head) = self.heads.pop()
        {
            if head.at_hand {
                self.step(tiles, queue, head);
            } else {
                self.load(context, tiles, head.cursor)?;
            }
        }
        Ok(!queue.is_empty())
    }
}

impl<K: Key> Heads<K> {
    /// How many heads have keys above `key`.
    #[inline]
    fn above(&self, key: K) -> usize {
        /// Up to here comparing all of them is faster than the jumps of a bisection.
        const FEW: usize = 32;
        if self.keys.len() <= FEW {
            self.keys.iter().map(|other| usize::from(*other > key)).sum()
        } else {
            self.keys.partition_point(|other| *other > key)
        }
    }

    #[inline]
    fn get(&self, place: usize) -> Option<Head<K>> {
        let (key, (at_hand, cursor)) = (*self.keys.get(place)?, *self.rest.get(place)?);
        Some(Head { key, at_hand, cursor })
    }

    #[inline]
    fn last(&self) -> Option<Head<K>> {
        self.get(self.keys.len().checked_sub(1)?)
    }

    fn pop(&mut self) -> Option<Head<K>> {
        let (key, (at_hand, cursor)) = (self.keys.pop()?, self.rest.pop()?);
        Some(Head { key, at_hand, cursor })
    }

    /// Takes out up to `count` cursors whose tiles aren't at hand, the lowest first.
    fn take_waiting(&mut self, count: usize, cursors: &mut Vec<usize>) {
        let most = cursors.len() + count;
        for place in (0..self.keys.len()).rev() {
            if cursors.len() == most {
                break;
            }
            if let (false, cursor) = self.rest[place] {
                cursors.push(cursor);
                self.keys.remove(place);
                self.rest.remove(place);
            }
        }
    }

    fn insert(&mut self, place: usize, head: Head<K>) {
        self.keys.insert(place, head.key);
        self.rest.insert(place, (head.at_hand, head.cursor));
    }
}

impl<K: Key> Cursor<K> {
    /// The tile and the index of the next cell.
    fn current(&self) -> Option<(&Keyed<K>, u32)> {
        let current = self.loaded.front()?;
        (self.position < current.len()).then(|| (current, current.cell(self.position)))
    }

    /// How many of the next cells in the tile have keys below `limit`; the first one's is.
    fn before(&self, limit: K) -> usize {
        let Some(current) = self.loaded.front() else { return 0 };
        let keys = &current.keys[self.position..];
        if keys.get(1).is_none_or(|key| *key >= limit) {
            return 1;
        }
        // Doubling steps: where fragments interleave, runs are short.
        let mut step = 2;
        while keys.get(step).is_some_and(|key| *key < limit) {
            step *= 2;
        }
        let (low, high) = (step / 2, step.min(keys.len()));
        low + keys[low..high].partition_point(|key| *key < limit)
    }

    /// Appends up to `count` of the next cells in the tile to the queue, but for those that stand for a deletion.
    fn give(&mut self, count: usize, tiles: &mut TileTable, queue: &mut RunQueue) {
        let Some(current) = self.loaded.front() else { return };
        let start = self.position;
        let end = start.saturating_add(count).min(current.len());
        self.position = end;
        if current.has_deleted() {
            let shown: Vec<u32> =
                (start..end).map(|position| current.cell(position)).filter(|cell| !current.is_deleted(*cell)).collect();
            queue.push_list(tiles, current.slot, &shown);
        } else if let Some(cells) = current.cells(start..end) {
            queue.push_list(tiles, current.slot, cells);
        } else if let (Ok(start), Ok(len)) = (u32::try_from(start), u32::try_from(end - start)) {
            queue.push(tiles, Run { slot: current.slot, start, len });
        }
    }
}

/// Whether a tile begins with an older version of the cell that the tile before it ended with.
fn is_continued<K: Key>(order: &CellOrder, done: &Keyed<K>, next: &Keyed<K>) -> bool {
    let Some(last) = done.len().checked_sub(1).filter(|_| next.may_repeat_coordinates()) else { return false };
    next.keys.first() == done.keys.last() && done.compare_equal(order, done.cell(last), next, next.cell(0)).is_eq()
}
