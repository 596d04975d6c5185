//! Merging fragments in global order.

mod heads;
mod lane;
mod part;
mod split;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::Engine;
use super::context::Context;
use super::keyed::Keyed;
use super::source::SelectedTile;
use super::table::{RUN_BYTES, RunQueue, Runs, TileTable, cell_bytes};
use crate::Result;
use crate::order::cell_order::CellOrder;
use crate::order::key::Key;
use lane::{Lane, Place};
use part::{Reached, Rules, merge};
use split::{Cut, split};

/// Merges the tiles of several fragments, each of which is in global order, and drops all but the newest of cells with
/// equal coordinates unless duplicates are allowed.
///
/// Of each fragment one tile's keys are at hand, and not before its MBR says that the tile's turn may have come, or is
/// among the next that are loaded together: about as many as make a batch where several threads share the work. What is
/// at hand is merged as far as it goes, by several threads in [parts](split) if there is enough of it.
#[derive(Debug)]
pub(super) struct Merge<K> {
    order: CellOrder,
    cursors: Vec<Cursor<K>>,
    deduplicate: bool,
    /// Memory for the runs of parts.
    runs: Vec<Runs>,
}

/// Where the merge stands in a fragment.
#[derive(Debug)]
struct Cursor<K> {
    source: usize,
    /// Tiles to come, each with a key that is not above that of any wanted cell in it or in the tiles behind it.
    tiles: VecDeque<(K, SelectedTile)>,
    /// Tiles at hand, the current one first.
    loaded: Vec<Keyed<K>>,
    /// The next cell's position in the current tile.
    position: usize,
}

/// A tile to load: the place of its cursor, its source, and which it is.
type Job = (usize, usize, SelectedTile);

/// Merging fewer cells isn't worth a second thread; tests have few.
const WORTH_PARTS: usize = if cfg!(test) { 2 } else { 16 << 10 };

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
            Some(Cursor { source, tiles, loaded: Vec::new(), position: 0 })
        });
        let cursors = cursors.collect();
        Self { order, cursors, deduplicate: !context.allows_duplicates(), runs: Vec::new() }
    }

    /// Merges what is at hand until there are about `most` bytes of cells, or a tile has to be loaded: the place of its
    /// cursor.
    fn advance(
        &mut self,
        context: &Context,
        tiles: &mut TileTable,
        queue: &mut RunQueue,
        most: usize,
    ) -> Result<Option<usize>> {
        let lanes: Vec<Lane<'_, K>> = self.cursors.iter().map(Cursor::lane).collect();
        let rules = Rules { order: &self.order, deduplicate: self.deduplicate, tiles };
        let workers = context.array.workers();
        let parts = if workers.threads() > 1 { 2 * workers.threads() } else { 1 };
        let cut = Cut { most: most / cell_size(&self.cursors, tiles), parts, least: WORTH_PARTS };
        let mut runs = queue.take_out();
        let known = runs.len();
        let reached = match split(&lanes, cut) {
            Some(places) => merge_parts(context, rules, &lanes, places, (&mut runs, &mut self.runs))?,
            None => merge(rules, lanes, context.budget, &mut runs),
        };
        queue.put_back(tiles, runs, known);
        for (cursor, place) in self.cursors.iter_mut().zip(reached.places) {
            cursor.go_to(&self.order, place, |done| {
                tiles.close(context, done.slot);
                done.give_back(context);
            });
        }
        Ok(reached.waits_for)
    }

    /// Loads the next tile of a fragment, and with it others whose turn comes soon.
    fn load(&mut self, context: &Context, tiles: &mut TileTable, jobs: Vec<Job>) -> Result<()> {
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
            self.cursors[cursor].loaded.push(keyed);
        }
        Ok(())
    }

    /// Takes out the next tile of the cursor `first`, and others so that about `most` bytes of cells can be merged.
    fn next_tiles(&mut self, context: &Context, tiles: &TileTable, first: usize, most: usize) -> Vec<Job> {
        let size = |source: usize, tile: &SelectedTile| {
            cell_bytes(context, source, tile.tile, tile.cells).saturating_mul(tile.cells as usize)
        };
        let at_hand: usize = self.cursors.iter().map(|cursor| cursor.bytes_left(tiles)).fold(0, usize::saturating_add);
        // Of every fragment a part of a tile will be left over.
        let left_over = self.cursors.iter().filter_map(|cursor| Some(size(cursor.source, &cursor.tiles.front()?.1)));
        let most = match context.array.workers().threads() {
            1 => most / 4,
            _ => left_over.fold(most, usize::saturating_add),
        };
        let most = most.min(context.room / 4).saturating_sub(at_hand);
        // Where it isn't known which tile comes first, each fragment's is taken in turn.
        let waiting = self.cursors.iter().enumerate();
        let waiting =
            waiting.filter_map(|(index, cursor)| Some((usize::from(index != first), cursor.pending()?, index)));
        let mut waiting: BinaryHeap<_> = waiting.map(Reverse).collect();
        let (mut jobs, mut bytes) = (Vec::new(), 0_usize);
        while (jobs.is_empty() || bytes < most)
            && let Some(Reverse((turn, key, index))) = waiting.pop()
        {
            let cursor = &mut self.cursors[index];
            let Some((_, tile)) = cursor.tiles.pop_front() else { continue };
            bytes = bytes.saturating_add(size(cursor.source, &tile));
            jobs.push((index, cursor.source, tile));
            if let Some((next, _)) = cursor.tiles.front() {
                waiting.push(Reverse((turn.max(1) + usize::from(*next <= key), key.max(*next), index)));
            }
        }
        jobs
    }
}

impl<K: Key> Engine for Merge<K> {
    fn fill(&mut self, context: &Context, tiles: &mut TileTable, queue: &mut RunQueue) -> Result<bool> {
        while queue.bytes() < context.budget && !self.cursors.is_empty() {
            let most = context.budget - queue.bytes();
            if let Some(cursor) = self.advance(context, tiles, queue, most)? {
                let jobs = self.next_tiles(context, tiles, cursor, context.budget - queue.bytes().min(context.budget));
                self.load(context, tiles, jobs)?;
            }
            self.cursors.retain(|cursor| !cursor.is_ended());
        }
        Ok(!queue.is_empty())
    }
}

impl<K: Key> Cursor<K> {
    /// The cells from where the merge stands.
    fn lane(&self) -> Lane<'_, K> {
        let pending = self.tiles.front().map(|(key, _)| *key);
        Lane::open(&self.loaded, Place { tile: 0, position: self.position }, pending)
    }

    /// A key not above that of any cell that isn't at hand, if there are any.
    fn pending(&self) -> Option<K> {
        let (key, _) = self.tiles.front()?;
        let last = self.loaded.last().and_then(|tile| tile.keys.last());
        Some(last.map_or(*key, |last| *last.max(key)))
    }

    fn is_ended(&self) -> bool {
        self.tiles.is_empty() && self.loaded.is_empty()
    }

    /// Goes on to a place among the tiles at hand, and hands over those that it has passed.
    fn go_to(&mut self, order: &CellOrder, place: Place, done: impl FnMut(Keyed<K>)) {
        let mut lane = Lane::open(&self.loaded, place, None);
        let is_at_end = lane.settle(order).is_none();
        let place = lane.at;
        // Where a tile may go on with older versions of a cell, the last cell of the one before it is still needed.
        let all = is_at_end && (self.tiles.is_empty() || !self.may_be_continued());
        self.loaded.drain(..if all { self.loaded.len() } else { place.tile }).for_each(done);
        self.position = if all { 0 } else { place.position };
    }

    fn may_be_continued(&self) -> bool {
        self.loaded.last().is_some_and(Keyed::may_repeat_coordinates)
    }

    /// About how many bytes the cells at hand that are left take in the result.
    fn bytes_left(&self, tiles: &TileTable) -> usize {
        let bytes = |tile: &Keyed<K>| tile.len().saturating_mul(tiles.get(tile.slot).cell_bytes);
        let all = self.loaded.iter().map(bytes).fold(0, usize::saturating_add);
        let passed =
            self.loaded.first().map_or(0, |tile| self.position.saturating_mul(tiles.get(tile.slot).cell_bytes));
        all.saturating_sub(passed)
    }
}

/// Merges lanes in parts, which begin at `places` and end with the last of them. The first part's runs are appended to
/// `runs.0` at once, the others' after they have been gathered in the others.
fn merge_parts<K: Key>(
    context: &Context,
    rules: Rules<'_>,
    lanes: &[Lane<'_, K>],
    mut places: Vec<Vec<Place>>,
    (first, others): (&mut Runs, &mut Vec<Runs>),
) -> Result<Reached> {
    others.resize_with(others.len().max(places.len().saturating_sub(2)), Runs::default);
    let runs = std::iter::once(&mut *first).chain(&mut *others);
    let jobs: Vec<_> = places.windows(2).map(|ends| part_of(lanes, &ends[0], &ends[1])).zip(runs).collect();
    context.array.workers().for_each(u64::MAX, jobs, |(lanes, runs), _| {
        // Where fragments interleave, most runs are of one cell.
        runs.reserve(lanes.iter().map(Lane::len).sum());
        merge(rules, lanes, usize::MAX, runs);
        Ok(())
    })?;
    first.reserve(others.iter().map(Runs::len).sum());
    others.iter_mut().for_each(|runs| first.append(runs));
    Ok(Reached { places: places.pop().unwrap_or_default(), waits_for: None })
}

/// Some of the cells of each lane.
fn part_of<'a, K: Key>(lanes: &[Lane<'a, K>], begins: &[Place], ends: &[Place]) -> Vec<Lane<'a, K>> {
    let places = begins.iter().zip(ends);
    lanes.iter().zip(places).map(|(lane, (begin, end))| lane.between(*begin, *end)).collect()
}

/// About how many bytes a cell at hand takes in the result if the next one is of another fragment.
fn cell_size<K: Key>(cursors: &[Cursor<K>], tiles: &TileTable) -> usize {
    let loaded = || cursors.iter().flat_map(|cursor| &cursor.loaded);
    let cells: usize = loaded().map(Keyed::len).sum();
    let bytes = loaded().map(|tile| tile.len().saturating_mul(tiles.get(tile.slot).cell_bytes));
    bytes.fold(0, usize::saturating_add) / cells.max(1) + RUN_BYTES
}

#[cfg(test)]
mod tests;
