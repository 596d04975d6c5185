//! Merge of tiles in global order.

mod heads;
mod lane;
mod part;
mod pending;
mod split;
mod strand;

use tdb_cells::order::cell_order::CellOrder;
use tdb_cells::order::key::Key;
use tdb_snapshot::{ArrayError, Result};

use crate::context::Context;
use crate::engine::Engine;
use crate::keyed::Keyed;
use crate::selected::{SelectedTile, Tiles};
use crate::slabs::Slabs;
use crate::table::{RUN_BYTES, RunQueue, Runs, TileTable, cell_bytes};
use lane::{Lane, Place};
use part::{Reached, Rules, merge};
use pending::{Pending, PendingTile};
use split::{Cut, split};
use strand::Strand;

/// A merge of the tiles of fragments in global order. Cells hidden by a newer cell with equal
/// coordinates are dropped.
///
/// A fragment's cells should be in global order, but the format does not guarantee this. Therefore
/// the merge emits no cell beyond the lower bounds of unloaded tiles, taken from MBRs. Each tile is
/// sorted when loaded, and overlapping tiles of a fragment are merged like tiles of several
/// fragments. If the loaded tiles exceed the memory limit, [`Slabs`] sorts the rest. In a fragment
/// in global order, tiles are only loaded slightly earlier than necessary.
///
/// Tiles are loaded in groups: with several threads, about as many as fill a batch. Loaded cells
/// are merged as far as possible. Several threads merge cells in [parts](split) if the number of
/// cells justifies this.
#[derive(Debug)]
pub(super) struct Merge<K: Key> {
    order: CellOrder,
    /// Tiles to load.
    pending: Pending<K>,
    /// Loaded tiles, by source.
    strands: Vec<Strand<K>>,
    deduplicate: bool,
    /// Total bytes, in the result, of the first tile of each fragment.
    left_over: usize,
    /// Memory limit in bytes for loaded tiles.
    room: usize,
    /// Sorts the rest once the merge exceeds the memory limit.
    sorter: Option<Slabs<K>>,
    /// Buffers for the runs of parts.
    runs: Vec<Runs>,
}

/// Minimum number of cells for a second thread. Small in tests, which have few cells.
const WORTH_PARTS: usize = if cfg!(test) { 2 } else { 16 << 10 };

/// Number of strands allowed in addition to one per fragment. With more strands, sorting is faster
/// than merging.
const MOST_MORE_STRANDS: usize = if cfg!(test) { 2 } else { 32 };

impl<K: Key> Merge<K> {
    /// Prepares the merge. `tiles` must be sorted by source.
    pub(super) fn new(context: &Context, order: CellOrder, tiles: &Tiles) -> Self {
        let first_tiles = || tiles.chunk_by(|a, b| a.0 == b.0).filter_map(<[_]>::first);
        let bytes = |(source, tile): &(usize, SelectedTile)| tile_bytes(context, *source, tile);
        // The first tile of every fragment must be loaded, even if large.
        let keys = first_tiles().map(|(_, tile)| tile.cells as usize * (size_of::<K>() + size_of::<u64>()));
        Self {
            pending: Pending::new(context, &order, tiles),
            order,
            strands: Vec::new(),
            deduplicate: context.must_deduplicate(),
            left_over: first_tiles().map(bytes).fold(0, usize::saturating_add),
            room: keys.fold(context.room, usize::saturating_add),
            sorter: None,
            runs: Vec::new(),
        }
    }

    /// Merges loaded cells until the runs reach about `most` bytes or another tile must be loaded.
    /// Returns `true` in the latter case.
    fn advance(&mut self, context: &Context, tiles: &mut TileTable, queue: &mut RunQueue, most: usize) -> Result<bool> {
        let lanes: Vec<Lane<'_, K>> = self.strands.iter().map(Strand::lane).collect();
        let gate = self.pending.gate();
        let rules = Rules { order: &self.order, deduplicate: self.deduplicate, tiles };
        let workers = context.array.workers();
        let parts = if workers.threads() > 1 { 2 * workers.threads() } else { 1 };
        let cut = Cut { most: most / cell_size(&self.strands, tiles), parts, least: WORTH_PARTS };
        let mut runs = queue.take_out();
        let known = runs.len();
        let reached = match split(&lanes, gate, cut) {
            Some(places) => merge_parts(context, rules, &lanes, places, (&mut runs, &mut self.runs))?,
            None => merge(rules, lanes, gate, context.budget, &mut runs),
        };
        queue.put_back(tiles, runs, known);
        for (strand, place) in self.strands.iter_mut().zip(reached.places) {
            strand.go_to(place, |done| {
                tiles.close(context, done.slot);
                done.give_back(context);
            });
        }
        self.strands.retain(|strand| !strand.tiles.is_empty());
        Ok(reached.waits)
    }

    /// Takes out the next tiles to load, enough to merge about `most` bytes.
    fn next_tiles(&mut self, context: &Context, tiles: &TileTable, most: usize) -> Vec<PendingTile<K>> {
        let at_hand = self.strands.iter().map(|strand| strand.bytes_left(tiles)).fold(0, usize::saturating_add);
        let threads = context.array.workers().threads();
        // After the merge, a part of a tile remains for every fragment.
        let most = if threads == 1 { most / 4 } else { most.saturating_add(self.left_over) };
        let most = most.min(context.room / 4).saturating_sub(at_hand);
        let (mut jobs, mut bytes) = (Vec::new(), 0_usize);
        while (jobs.is_empty() || bytes < most)
            && let Some(next) = self.pending.pop()
        {
            bytes = bytes.saturating_add(tile_bytes(context, next.source, &next.tile));
            jobs.push(next);
        }
        jobs
    }

    fn load(&mut self, context: &Context, tiles: &mut TileTable, jobs: Vec<PendingTile<K>>) -> Result<()> {
        let order = &self.order;
        let bytes = jobs.iter().map(|job| u64::from(job.tile.cells) * 16).sum();
        let loaded = context.array.workers().map(bytes, jobs, |PendingTile { source, tile, .. }, scratch| {
            let (mut keyed, fields) = Keyed::load(context, order, source, &tile, scratch)?;
            keyed.make_mergeable(order);
            Ok::<_, ArrayError>((tile, keyed, fields))
        })?;
        for (tile, mut keyed, fields) in loaded.into_iter().filter(|(_, keyed, _)| keyed.len() > 0) {
            keyed.slot = tiles.add(context, keyed.source, tile.tile, tile.cells);
            tiles.get_mut(keyed.slot).hold(fields);
            self.take_in(keyed);
        }
        Ok(())
    }

    /// Adds a tile to the first suitable strand of the fragment, or to a new strand.
    fn take_in(&mut self, tile: Keyed<K>) {
        let begin = self.strands.partition_point(|strand| strand.source < tile.source);
        let end = self.strands.partition_point(|strand| strand.source <= tile.source);
        let mut tile = Some(tile);
        for strand in &mut self.strands[begin..end] {
            tile = tile.and_then(|tile| strand.insert(&self.order, tile));
        }
        if let Some(tile) = tile {
            self.strands.insert(end, Strand::new(tile));
        }
    }

    /// Enforces the memory limit. First unloads the tiles that are needed last. The first key of an
    /// unloaded tile is then known, and replaces the lower bound from the MBR. If memory still does
    /// not suffice, or if there are too many strands, leaves the rest to the sorter.
    fn make_room(&mut self, context: &Context, tiles: &mut TileTable) {
        let memory = |strand: &Strand<K>| strand.tiles.iter().map(Keyed::memory).sum::<usize>();
        let mut held: usize = self.strands.iter().map(memory).sum();
        while held > self.room
            && let Some((low, tile)) = self.pop_latest()
        {
            held -= tile.memory();
            let (source, tile) = (tile.source, let_go(context, tiles, tile));
            self.pending.push(PendingTile { low, source, tile });
        }
        let sources = self.strands.chunk_by(|a, b| a.source == b.source).count();
        if held > self.room || self.strands.len() > sources + MOST_MORE_STRANDS {
            self.leave_to_sorter(context, tiles);
        }
    }

    /// Takes out the loaded tile with the highest first key, together with this key. Returns `None`
    /// if the tile is partly emitted or next in turn.
    fn pop_latest(&mut self) -> Option<(K, Keyed<K>)> {
        let gate = self.pending.gate()?;
        let latest = self.strands.iter_mut().max_by_key(|strand| strand.last_start())?;
        if latest.last_start().is_none_or(|start| start <= gate) {
            return None;
        }
        latest.pop_untouched()
    }

    /// Hands all remaining cells to the sorter. All remaining keys are at or above the gate.
    fn leave_to_sorter(&mut self, context: &Context, tiles: &mut TileTable) {
        let start = self.pending.gate();
        let mut rest: Tiles = self.pending.iter().collect();
        for tile in self.strands.drain(..).flat_map(|strand| strand.tiles) {
            rest.push((tile.source, let_go(context, tiles, tile)));
        }
        self.sorter = Some(Slabs::new(context, self.order.clone(), &rest, start));
    }
}

impl<K: Key> Engine for Merge<K> {
    fn fill(&mut self, context: &Context, tiles: &mut TileTable, queue: &mut RunQueue) -> Result<bool> {
        while self.sorter.is_none()
            && queue.bytes() < context.budget
            && !(self.strands.is_empty() && self.pending.is_empty())
        {
            context.array.workers().check()?;
            if self.advance(context, tiles, queue, context.budget - queue.bytes())? {
                self.make_room(context, tiles);
                if self.sorter.is_none() {
                    let jobs = self.next_tiles(context, tiles, context.budget.saturating_sub(queue.bytes()));
                    self.load(context, tiles, jobs)?;
                }
            }
        }
        if let Some(sorter) = self.sorter.as_mut().filter(|_| queue.is_empty()) {
            return sorter.fill(context, tiles, queue);
        }
        Ok(!queue.is_empty())
    }
}

/// Unloads a tile.
fn let_go<K: Key>(context: &Context, tiles: &mut TileTable, keyed: Keyed<K>) -> SelectedTile {
    let tile = keyed.tile;
    tiles.close(context, keyed.slot);
    keyed.give_back(context);
    tile
}

/// Estimates the bytes of a tile's cells in the result.
fn tile_bytes(context: &Context, source: usize, tile: &SelectedTile) -> usize {
    cell_bytes(context, source, tile.tile, tile.cells).saturating_mul(tile.cells as usize)
}

/// Merges lanes in parts. `places` holds the start of each part and the end of the last part. The
/// first part appends runs directly to `first`. The runs of further parts are collected in `others`
/// and then appended.
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
        // If fragments interleave, most runs have a single cell.
        runs.reserve(lanes.iter().map(Lane::len).sum());
        merge(rules, lanes, None, usize::MAX, runs);
        Ok::<_, ArrayError>(())
    })?;
    first.reserve(others.iter().map(Runs::len).sum());
    others.iter_mut().for_each(|runs| first.append(runs));
    Ok(Reached { places: places.pop().unwrap_or_default(), waits: false })
}

/// Restricts each lane to the cells between two places.
fn part_of<'a, K: Key>(lanes: &[Lane<'a, K>], begins: &[Place], ends: &[Place]) -> Vec<Lane<'a, K>> {
    let places = begins.iter().zip(ends);
    lanes.iter().zip(places).map(|(lane, (begin, end))| lane.between(*begin, *end)).collect()
}

/// Estimates the bytes of a loaded cell in the result, assuming that adjacent cells come from
/// distinct fragments.
fn cell_size<K: Key>(strands: &[Strand<K>], tiles: &TileTable) -> usize {
    let loaded = || strands.iter().flat_map(|strand| &strand.tiles);
    let cells: usize = loaded().map(Keyed::len).sum();
    let bytes = loaded().map(|tile| tile.len().saturating_mul(tiles.get(tile.slot).cell_bytes));
    bytes.fold(0, usize::saturating_add) / cells.max(1) + RUN_BYTES
}

#[cfg(test)]
mod tests;
