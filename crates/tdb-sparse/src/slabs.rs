//! Sorting cells, as many at a time as memory allows.

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

/// Sorts cells slab by slab. A slab is a range of sort keys that is chosen so that its cells, as far as can be estimated from
/// the MBRs of tiles, fit in memory; its cells are found by the coordinates of all tiles whose MBRs reach into it.
/// Keys of tiles that reach into the next slab too are kept while there is room.
#[derive(Debug)]
pub(super) struct Slabs<K: Key> {
    order: CellOrder,
    /// By their lowest key.
    tiles: Vec<SlabTile<K>>,
    /// The tiles before this one have been taken up.
    next: usize,
    /// The tiles that have been taken up and reach beyond the slabs that are done.
    active: Vec<usize>,
    /// The first key of the next slab; none after the last one.
    start: Option<K>,
    /// About how many keys the last slab spanned.
    span: Option<f64>,
    /// The tiles at hand, by slot.
    keyed: Vec<Option<Keyed<K>>>,
    /// The cells of the slab, and how many bytes they take in the result.
    entries: Entries<K::Entry>,
    bytes: usize,
    sorter: Sorter<K::Entry>,
    /// Whether cells may hide others with equal coordinates.
    deduplicate: bool,
}

/// A tile and where its cells lie in the order.
#[derive(Debug)]
struct SlabTile<K> {
    source: usize,
    tile: SelectedTile,
    low: K,
    high: K,
    /// Bytes that all its cells take in the result, or while they are sorted if that is more.
    bytes: f64,
    /// Its place in the table while it is at hand.
    slot: Option<u32>,
}

impl<K: Key> Slabs<K> {
    /// Bytes of a cell while it is sorted: its key, and two entries.
    const SORTING_BYTES: usize = size_of::<K>() + 2 * size_of::<K::Entry>();

    /// Sorts the cells of tiles, those with keys below `start` excepted.
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

    /// About how many bytes the cells with keys `start..=end` take.
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

    /// The last key of the slab that begins at `start`.
    fn end(&self, start: K, budget: usize) -> K {
        let budget = budget as f64;
        let fits = |end| self.estimate(start, end) <= budget;
        // The slab before shows about where to look.
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
        // Where tiles end there are fewer to be looked at twice.
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
                    // What decides between cells has to stay until the slab is sorted.
                    keyed.forget_keys(start, end);
                }
                held += keyed.memory();
            }
            table.trim(context.room / 4);
        }
        Ok(())
    }

    /// How many of the tiles to load at once.
    fn group_len(&self, tiles: &[usize], context: &Context) -> usize {
        let mut bytes = 0.0;
        let fitting = tiles.iter().take_while(|index| {
            bytes += self.tiles[**index].bytes;
            bytes <= context.sorting as f64
        });
        fitting.count().max(context.array.workers().threads()).min(tiles.len())
    }

    /// Loads the tiles that aren't at hand.
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

    /// Leaves out the highest cells if there are many more than memory allows; gives the last key that remains.
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
        // Looking for equal keys first is quicker than doing it cell by cell: mostly there are none.
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

    /// Lets go of tiles that end in the slab, and of those that there is no room for.
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
            // What isn't sorted then isn't given.
            context.array.workers().check()?;
            self.give(tiles, queue, &entries);
            self.entries = entries;
            self.span = Some(start.span(end));
            self.finish(context, tiles, end);
        }
        Ok(!queue.is_empty())
    }
}
