//! Sorting of cells in portions, within a memory limit.

use tdb_cells::order::cell_order::CellOrder;
use tdb_cells::order::entries::Entries;
use tdb_cells::order::key::{Entry, Key};
use tdb_cells::order::sort::{CompareEqual, Sorter};
use tdb_snapshot::Result;

use crate::context::Context;
use crate::engine::Engine;
use crate::keyed::Keyed;
use crate::selected::{SelectedTile, Tiles};
use crate::table::{Run, RunQueue, TileTable, cell_bytes};

/// A sort of cells, slab by slab. A slab is a range of sort keys. According to an estimate from the
/// MBRs of tiles, the cells of a slab fit into memory. The cells come from all tiles with an MBR
/// intersecting the slab. Keys of tiles extending into the next slab are kept while memory permits.
#[derive(Debug)]
pub(super) struct Slabs<K: Key> {
    order: CellOrder,
    /// Sorted by lowest key.
    tiles: Vec<SlabTile<K>>,
    /// Index of the first inactive tile.
    next: usize,
    /// Tiles that have begun and extend beyond the completed slabs.
    active: Vec<usize>,
    /// First key of the next slab. `None` after the last slab.
    start: Option<K>,
    /// Approximate number of keys in the range of the last slab.
    span: Option<f64>,
    /// Loaded tiles, by slot.
    keyed: Vec<Option<Keyed<K>>>,
    /// Cells of the slab, and the bytes of these cells in the result.
    entries: Entries<K::Entry>,
    bytes: usize,
    sorter: Sorter<K::Entry>,
    /// `true` if cells may hide other cells with equal coordinates.
    deduplicate: bool,
}

/// A tile with key bounds.
#[derive(Debug)]
struct SlabTile<K> {
    source: usize,
    tile: SelectedTile,
    low: K,
    high: K,
    /// Bytes of all cells: the maximum of the size in the result and the size during the sort.
    bytes: f64,
    /// Slot in the table while the tile is loaded.
    slot: Option<u32>,
}

impl<K: Key> Slabs<K> {
    /// Bytes of a cell during the sort: a key and two entries.
    const SORTING_BYTES: usize = size_of::<K>() + 2 * size_of::<K::Entry>();

    /// Prepares to sort the cells of tiles, except for cells with keys below `start`.
    pub(super) fn new(context: &Context, order: CellOrder, tiles: &Tiles, start: Option<K>) -> Self {
        let mut tiles: Vec<SlabTile<K>> = context
            .keys_of_bounds(&order, tiles)
            .filter_map(|((source, tile), ends)| {
                let (low, high): (K, K) = ends?;
                let cell = cell_bytes(context, *source, tile.tile, tile.cells).max(Self::SORTING_BYTES);
                let bytes = cell as f64 * f64::from(tile.cells);
                Some(SlabTile { source: *source, tile: *tile, low, high: high.max(low), bytes, slot: None })
            })
            .collect();
        tiles.sort_by(|a, b| a.low.cmp(&b.low).then(a.high.cmp(&b.high)));
        let start = tiles.first().map(|tile| start.map_or(tile.low, |start| start.max(tile.low)));
        Self {
            order,
            tiles,
            next: 0,
            active: Vec::new(),
            start,
            span: None,
            keyed: Vec::new(),
            entries: Entries::default(),
            bytes: 0,
            sorter: Sorter::default(),
            deduplicate: context.must_deduplicate(),
        }
    }

    /// Estimates the bytes of the cells with keys `start..=end`.
    fn estimate(&self, start: K, end: K) -> f64 {
        let new = self.tiles[self.next..].iter().take_while(|tile| tile.low <= end);
        let tiles = self.active.iter().map(|index| &self.tiles[*index]).chain(new);
        tiles
            .map(|tile| {
                let (low, high) = (tile.low.max(start), tile.high.min(end));
                if low > high { 0.0 } else { tile.bytes * low.span(high) / tile.low.span(tile.high) }
            })
            .sum()
    }

    /// Returns the last key of the slab beginning at `start`.
    fn end(&self, start: K, budget: usize) -> K {
        let budget = budget as f64;
        let fits = |end| self.estimate(start, end) <= budget;
        // The span of the previous slab is a good first guess.
        let guess = self.span.map_or(K::HIGHEST, |span| start.up(span * 4.0));
        let mut high = if fits(guess) { K::HIGHEST } else { guess };
        if fits(high) {
            return high;
        }
        let mut low = start;
        while let Some(above) = low.next()
            && above < high
        {
            let middle = low.halfway(high);
            let bytes = self.estimate(start, middle);
            if bytes <= budget {
                low = middle;
                if bytes >= budget * 0.9 {
                    break;
                }
            } else {
                high = middle;
            }
        }
        // If the slab ends with tiles, fewer tiles must be read twice.
        let new = self.tiles[self.next..].iter().take_while(|tile| tile.low <= low);
        let tiles = self.active.iter().map(|index| &self.tiles[*index]).chain(new);
        let ends = tiles.map(|tile| tile.high).filter(|end| (start..=low).contains(end));
        match ends.max() {
            Some(end) if self.estimate(start, end) >= budget * 0.5 => end,
            _ => low,
        }
    }

    /// Collects the cells with keys `start..=end`.
    fn collect(&mut self, context: &Context, table: &mut TileTable, start: K, end: K) -> Result<()> {
        while self.tiles.get(self.next).is_some_and(|tile| tile.low <= end) {
            self.active.push(self.next);
            self.next += 1;
        }
        self.entries.clear();
        self.bytes = 0;
        let mut held = 0;
        let active = self.active.clone();
        let mut rest = &active[..];
        while !rest.is_empty() {
            let (group, after) = rest.split_at(self.group_len(rest, context));
            rest = after;
            self.load(context, table, group)?;
            let cells = group.iter().filter_map(|index| Some(self.keyed(self.tiles[*index].slot?)?.len()));
            let most = self.entries.len() + cells.sum::<usize>();
            self.entries.reserve(most);
            for slot in group.iter().filter_map(|index| self.tiles[*index].slot) {
                let Some(keyed) = &mut self.keyed[slot as usize] else { continue };
                let before = self.entries.len();
                keyed.append_between(start, end, &mut self.entries);
                self.bytes = self.bytes.saturating_add((self.entries.len() - before) * table.get(slot).cell_bytes);
                if held + keyed.memory() > context.sorting / 2 {
                    // Coordinates for the comparison of equal keys must stay until the slab is
                    // sorted.
                    keyed.forget_keys(start, end);
                }
                held += keyed.memory();
            }
            table.trim(context.room / 4);
        }
        Ok(())
    }

    /// Returns the number of tiles to load together.
    fn group_len(&self, tiles: &[usize], context: &Context) -> usize {
        let mut bytes = 0.0;
        let fitting = tiles.iter().take_while(|index| {
            bytes += self.tiles[**index].bytes;
            bytes <= context.sorting as f64
        });
        fitting.count().max(context.array.workers().threads()).min(tiles.len())
    }

    /// Loads missing tiles.
    fn load(&mut self, context: &Context, table: &mut TileTable, tiles: &[usize]) -> Result<()> {
        let missing = tiles.iter().filter(|index| self.tiles[**index].slot.is_none());
        let jobs: Vec<_> = missing.map(|index| (*index, self.tiles[*index].source, self.tiles[*index].tile)).collect();
        let bytes = jobs.iter().map(|(.., tile)| u64::from(tile.cells) * 16).sum();
        let order = &self.order;
        let loaded = context.array.workers().map(bytes, jobs, |(index, source, tile), scratch| {
            Keyed::load(context, order, source, &tile, scratch).map(|(keyed, fields)| (index, tile, keyed, fields))
        })?;
        for (index, tile, mut keyed, fields) in loaded {
            let slot = table.add(context, keyed.source, tile.tile, tile.cells);
            table.get_mut(slot).hold(fields);
            keyed.slot = slot;
            self.tiles[index].slot = Some(slot);
            if self.keyed.len() <= slot as usize {
                self.keyed.resize_with(slot as usize + 1, || None);
            }
            self.keyed[slot as usize] = Some(keyed);
        }
        Ok(())
    }

    /// Drops the highest cells if the slab exceeds twice the memory limit. Returns the last
    /// remaining key.
    fn cut(&self, context: &Context, entries: &mut Entries<K::Entry>, end: K) -> K {
        let bytes = self.bytes.max(entries.len() * Self::SORTING_BYTES);
        if bytes / 2 <= context.sorting {
            return end;
        }
        let most = (entries.len() as f64 * context.sorting as f64 / bytes as f64) as usize;
        let most = most.min(entries.len() - 1);
        let (_, last, _) = entries.select_nth_unstable(most);
        let last = last.key();
        entries.retain(|entry| entry.key() <= last);
        last
    }

    fn sort(&mut self, context: &Context, entries: &mut Entries<K::Entry>, bounds: (K, K)) {
        let mut sorter = std::mem::take(&mut self.sorter);
        let compare = |a: &K::Entry, b: &K::Entry| self.compare_equal(a, b);
        let compare: &CompareEqual<'_, K::Entry> = &compare;
        let compare_equal = (!self.order.is_exact()).then_some(compare);
        sorter.sort(context.array.workers(), entries, bounds, compare_equal);
        self.sorter = sorter;
    }

    fn keyed(&self, slot: u32) -> Option<&Keyed<K>> {
        self.keyed.get(slot as usize)?.as_ref()
    }

    /// Compares the coordinates of cells with equal keys.
    fn compare_equal(&self, a: &K::Entry, b: &K::Entry) -> std::cmp::Ordering {
        let ((slot, cell), (other_slot, other_cell)) = (a.place(), b.place());
        match (self.keyed(slot), self.keyed(other_slot)) {
            (Some(first), Some(second)) => first.compare_equal(&self.order, cell, second, other_cell),
            _ => std::cmp::Ordering::Equal,
        }
    }

    /// Appends sorted cells to the queue.
    fn give(&self, table: &mut TileTable, queue: &mut RunQueue, entries: &[K::Entry]) {
        let mut give = |entry: &K::Entry| {
            let (slot, start) = entry.place();
            if !self.deduplicate || self.keyed(slot).is_some_and(|keyed| !keyed.is_deleted(start)) {
                queue.push(table, Run { slot, start, len: 1 });
            }
        };
        // A separate search for equal keys is faster than a test per cell, since equal keys are
        // rare.
        let followers = entries.get(1..).unwrap_or_default();
        let are_equal = |(a, b): (&K::Entry, &K::Entry)| a.key() == b.key();
        if !self.deduplicate || !entries.iter().zip(followers).map(are_equal).fold(false, |any, equal| any | equal) {
            return entries.iter().for_each(give);
        }
        let cell_of = |entry: &K::Entry| {
            let (slot, cell) = entry.place();
            self.keyed(slot).map(|keyed| (keyed, cell))
        };
        for equal in entries.chunk_by(|a, b| a.key() == b.key() && self.compare_equal(a, b).is_eq()) {
            if let [entry] = equal {
                give(entry);
                continue;
            }
            let newest = equal.iter().filter_map(cell_of).max_by_key(|(keyed, cell)| keyed.version(*cell));
            let counts = |entry: &&K::Entry| {
                let own = cell_of(entry).zip(newest);
                own.is_some_and(|((keyed, cell), newest)| keyed.counts_as(cell, newest))
            };
            equal.iter().filter(counts).for_each(&mut give);
        }
    }

    /// Unloads tiles ending in the slab, and tiles without keys.
    fn finish(&mut self, context: &Context, table: &mut TileTable, end: K) {
        let mut active = std::mem::take(&mut self.active);
        active.retain(|index| {
            let tile = &mut self.tiles[*index];
            let is_done = tile.high <= end;
            if let Some(slot) = tile.slot
                && (is_done || self.keyed[slot as usize].as_ref().is_none_or(Keyed::has_forgotten_keys))
            {
                tile.slot = None;
                self.keyed[slot as usize] = None;
                table.close(context, slot);
            }
            !is_done
        });
        self.active = active;
        let next = end.next();
        self.start = match (self.active.is_empty(), self.tiles.get(self.next)) {
            (true, tile) => next.and_then(|next| Some(tile?.low.max(next))),
            (false, _) => next,
        };
    }
}

impl<K: Key> Engine for Slabs<K> {
    fn fill(&mut self, context: &Context, tiles: &mut TileTable, queue: &mut RunQueue) -> Result<bool> {
        while queue.is_empty()
            && let Some(start) = self.start
        {
            let end = self.end(start, context.sorting);
            self.collect(context, tiles, start, end)?;
            let mut entries = std::mem::take(&mut self.entries);
            let end = self.cut(context, &mut entries, end);
            context.array.workers().check()?;
            self.sort(context, &mut entries, (start, end));
            // An interrupted sort must not emit cells.
            context.array.workers().check()?;
            self.give(tiles, queue, &entries);
            self.entries = entries;
            self.span = Some(start.span(end));
            self.finish(context, tiles, end);
        }
        Ok(!queue.is_empty())
    }
}
