//! Merge of the cells of several fragments.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use tdb_cells::order::key::Key;

use super::batch::{Batch, Reach};
use super::heads::{Head, Heads};
use super::input::{Input, Keep, Stop};
use super::picked::{Pick, Picked};
use super::slice::Slice;
use super::slices::{Slices, Spread, spreads};
use super::tile::{Loaded, Rules};

/// Minimum number of cells of a run that is picked without a sort. For shorter runs, the cells of
/// all open tiles are sorted.
const LONG_RUN: usize = 16;
/// Minimum average number of cells per open tile that makes a sort worthwhile.
const CELLS_OF_A_TILE: usize = 4;

/// Open tiles, and the selection of their next cells.
pub(super) struct Merge<'a, K: Key> {
    input: Input<'a>,
    slots: Vec<Option<Arc<Loaded<K>>>>,
    heads: Heads<K>,
    /// Tiles to open and slices to begin, lowest key last.
    waiting: Vec<Waiting<K>>,
    /// All tiles of unordered sources.
    spreads: Vec<Spread<K>>,
    /// Slices in which the tiles of unordered sources are opened.
    slices: Slices<K>,
    /// The current slice.
    slice: Slice<K>,
    batch: Batch<K>,
    /// Number of runs to pick without a sort, after a sort with little effect.
    patience: usize,
    /// Slot and index of the last inspected cell.
    last: Option<(usize, usize)>,
    /// `true` if all older cells with the coordinates of the last cell are dropped.
    ended: bool,
    /// `true` if a newer version hides the last cell.
    hidden: bool,
    /// `true` if the last cell was kept, or another cell of the same fragment with equal
    /// coordinates.
    stayed: bool,
    picks: Vec<Pick>,
    picked: usize,
    /// Slots of the tiles whose cells are all picked, but not yet handed over.
    spent: Vec<usize>,
    spent_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct Waiting<K> {
    low: K,
    what: Due,
}

/// A tile to open, or a slice to begin.
#[derive(Clone, Copy, Debug)]
enum Due {
    /// A tile, given by the index of the source and the index of the tile.
    Tile(usize, u64),
    /// The slice with this number.
    Slice(usize),
}

impl<'a, K: Key> Merge<'a, K> {
    pub(super) fn new(input: Input<'a>) -> Result<Self, Stop> {
        let spreads = spreads(&input)?;
        let slices = Slices::of(&input, &spreads)?;
        let mut waiting = vec![Waiting { low: K::default(), what: Due::Slice(0) }];
        for (index, source) in input.sources.iter().enumerate() {
            if !input.unordered.contains(&index) && source.tile_count() > 0 {
                let (low, _) = input.rules.order.ends::<K>(&source.bounds(0)?.0);
                waiting.push(Waiting { low, what: Due::Tile(index, 0) });
            }
        }
        waiting.sort_by_key(|waiting| Reverse(waiting.low));
        Ok(Self {
            input,
            slots: Vec::new(),
            heads: Heads::default(),
            waiting,
            spreads,
            slices,
            slice: Slice::all(),
            batch: Batch::default(),
            patience: 0,
            last: None,
            ended: false,
            hidden: false,
            stayed: false,
            picks: Vec::new(),
            picked: 0,
            spent: Vec::new(),
            spent_bytes: 0,
        })
    }

    /// Picks up to `cells` cells, or fewer if the tiles without remaining cells take more than
    /// `memory` bytes. Returns `false` if no cells are left.
    pub(super) fn fill(&mut self, cells: usize, memory: usize) -> Result<bool, Stop> {
        while self.picked < cells.max(1) && self.spent_bytes < memory.max(1) {
            self.open_due()?;
            let rules = self.input.rules;
            let Some(head) = self.heads.pop(|a, b| is_before(rules, &self.slots, a, b)) else { return Ok(false) };
            let room = cells - self.picked;
            let end = self.end_of_run(head);
            let is_short = end - head.cell < LONG_RUN && self.patience == 0;
            if is_short && !self.heads.0.is_empty() && room / CELLS_OF_A_TILE > self.heads.0.len() {
                self.push(head);
                self.pick_sorted(room)?;
                continue;
            }
            self.patience = self.patience.saturating_sub(1);
            let end = end.min(head.cell + room);
            self.emit(head.slot, head.cell..end)?;
            self.go_on(head.slot, end)?;
        }
        Ok(true)
    }

    /// Picks cells of all open tiles, up to the first key at which another tile may begin.
    fn pick_sorted(&mut self, room: usize) -> Result<(), Stop> {
        let Input { array, sources, rules, unordered, .. } = self.input;
        let mut batch = std::mem::take(&mut self.batch);
        let heads = std::mem::take(&mut self.heads.0);
        let reach = Reach { below: self.waiting.last().map(|waiting| waiting.low), most: room / heads.len().max(1) };
        let goes_on = |loaded: &Loaded<K>| {
            !unordered.contains(&loaded.source) && loaded.tile + 1 < sources[loaded.source].tile_count()
        };
        let count = batch.take((array.workers(), rules), &self.slots, &heads, reach, goes_on);
        // After a cancellation, the cells may not be sorted.
        array.workers().check()?;
        self.emit_sorted(&batch)?;
        for (head, end) in heads.iter().zip(&batch.ends) {
            self.go_on(head.slot, *end)?;
        }
        if count < CELLS_OF_A_TILE * heads.len() {
            // The sort of all tiles had little or no effect.
            self.patience = heads.len();
        }
        self.batch = batch;
        Ok(())
    }

    /// Continues with the cell at this index of an open tile. At the end of the tile, opens the
    /// next tile of the source.
    fn go_on(&mut self, slot: usize, cell: usize) -> Result<(), Stop> {
        match self.slots[slot].as_ref().and_then(|loaded| loaded.keys.get(cell)) {
            Some(key) => {
                self.push(Head { key: *key, slot, cell });
                Ok(())
            }
            None => self.advance(slot),
        }
    }

    /// Returns the picked cells, and releases the tiles without remaining cells. Keeps the tile of
    /// the last inspected cell for comparisons.
    pub(super) fn hand_over(&mut self) -> Picked<'a, K> {
        let picked = Picked::new(self.input, self.slots.clone(), std::mem::take(&mut self.picks));
        (self.picked, self.spent_bytes) = (0, 0);
        let last = self.last.map(|(slot, _)| slot);
        for slot in std::mem::take(&mut self.spent) {
            if Some(slot) == last { self.spent.push(slot) } else { self.slots[slot] = None }
        }
        picked
    }

    /// Opens the tiles that may have the next cell.
    fn open_due(&mut self) -> Result<(), Stop> {
        while let Some(next) = self.waiting.last().copied()
            && self.heads.0.first().is_none_or(|head| next.low <= head.key)
        {
            self.waiting.pop();
            match next.what {
                Due::Tile(source, tile) => {
                    let loaded = self.input.load(source, tile, self.slice)?;
                    self.open(loaded)?;
                }
                Due::Slice(number) => self.begin_slice(number),
            }
        }
        Ok(())
    }

    /// Queues the tiles of unordered sources that intersect a slice, and the next slice.
    fn begin_slice(&mut self, number: usize) {
        let Some(slice) = self.slices.get(number) else { return };
        self.slice = slice;
        let tiles = self.spreads.iter().filter(|tile| tile.meets(slice));
        let due = |tile: &Spread<K>| Waiting { low: tile.low.max(slice.from), what: Due::Tile(tile.source, tile.tile) };
        self.waiting.extend(tiles.map(due));
        self.waiting.extend(slice.below.map(|low| Waiting { low, what: Due::Slice(number + 1) }));
        self.waiting.sort_by_key(|waiting| Reverse(waiting.low));
    }

    /// Adds a loaded tile to the open tiles.
    fn open(&mut self, loaded: Loaded<K>) -> Result<(), Stop> {
        let free = self.slots.iter().position(Option::is_none);
        let slot = free.unwrap_or(self.slots.len());
        if free.is_none() {
            self.slots.push(None);
        }
        let first = loaded.keys.first().copied();
        self.slots[slot] = Some(Arc::new(loaded));
        match first {
            Some(key) => {
                self.push(Head { key, slot, cell: 0 });
                Ok(())
            }
            None => self.advance(slot),
        }
    }

    /// Opens the next tile of the same source.
    fn advance(&mut self, slot: usize) -> Result<(), Stop> {
        let Some(old) = &self.slots[slot] else { return Ok(()) };
        let (source, tile) = (old.source, old.tile + 1);
        self.spent.push(slot);
        self.spent_bytes += old.memory();
        if self.input.unordered.contains(&source) || tile >= self.input.sources[source].tile_count() {
            return Ok(());
        }
        let next = self.input.load(source, tile, self.slice)?;
        if self.slots[slot].as_ref().is_some_and(|old| !next.is_behind(self.input.rules, old)) {
            return Err(Stop::OutOfOrder(source));
        }
        self.open(next)
    }

    /// Returns the end of the run of cells that begins with this head. The run ends before the next
    /// cell of another tile. The head must be the next of all cells.
    fn end_of_run(&self, head: Head<K>) -> usize {
        let Some(loaded) = &self.slots[head.slot] else { return head.cell };
        let keys = &loaded.keys;
        let low = self.waiting.last().map(|waiting| waiting.low);
        let next = self.heads.0.first();
        let is_free = |key: K| low.is_none_or(|low| key < low) && next.is_none_or(|next| key < next.key);
        if keys.last().is_some_and(|last| is_free(*last)) {
            return keys.len();
        }
        let comes_first = |cell: usize| {
            is_free(keys[cell])
                || low.is_none_or(|low| keys[cell] < low)
                    && next.is_some_and(|next| {
                        let own = Head { key: keys[cell], slot: head.slot, cell };
                        is_before(self.input.rules, &self.slots, own, *next)
                    })
        };
        (head.cell + 1..keys.len()).find(|cell| !comes_first(*cell)).unwrap_or(keys.len())
    }

    /// Picks those cells of a run that are kept.
    fn emit(&mut self, slot: usize, run: Range<usize>) -> Result<(), Stop> {
        let Keep { newest, purge } = self.input.keep;
        if newest || purge.is_some() {
            return run.into_iter().try_for_each(|cell| self.emit_one(slot, cell));
        }
        if !self.input.rules.distinct {
            self.pick(slot, run);
            return Ok(());
        }
        let is_distinct = self.slots[slot].as_ref().is_some_and(|loaded| {
            !self.input.sources[loaded.source].has_times() && !self.input.unordered.contains(&loaded.source)
        });
        // If all cells of the fragment are distinct, only the first cell of the run can be a
        // version of the last cell.
        let checked = if is_distinct { run.start + 1 } else { run.end };
        for cell in run.start..checked.min(run.end) {
            match self.last.filter(|last| self.are_versions(*last, (slot, cell))) {
                Some(last) if self.were_written_together(last.0, slot) => return Err(self.repeated(slot)),
                Some(last) if self.are_simultaneous(last, (slot, cell)) => self.last = Some((slot, cell)),
                _ => self.pick(slot, cell..cell + 1),
            }
        }
        if checked < run.end {
            self.pick(slot, checked..run.end);
        }
        Ok(())
    }

    /// Picks those cells of a sorted batch that are kept.
    fn emit_sorted(&mut self, batch: &Batch<K>) -> Result<(), Stop> {
        let Keep { newest, purge } = self.input.keep;
        let is_plain = !newest && purge.is_none();
        let mut done = Ok(());
        // Cells with distinct keys are not versions of each other.
        batch.for_each(|slot, cell, has_other_key| match is_plain && has_other_key {
            _ if done.is_err() => {}
            true => self.pick(slot, cell..cell + 1),
            false => done = self.emit(slot, cell..cell + 1),
        });
        done
    }

    /// Picks a cell unless it is purged or a newer version hides it.
    fn emit_one(&mut self, slot: usize, cell: usize) -> Result<(), Stop> {
        let Keep { newest, purge } = self.input.keep;
        match self.last.filter(|last| self.are_versions(*last, (slot, cell))) {
            // Cells written together do not hide each other.
            Some(last) if self.were_written_together(last.0, slot) => {}
            Some(last) => {
                self.hidden = self.ended || self.are_simultaneous(last, (slot, cell));
                self.stayed = false;
            }
            None => (self.ended, self.hidden, self.stayed) = (false, false, false),
        }
        let loaded = self.slots[slot].as_ref();
        let fated = loaded.and_then(|loaded| loaded.columns.fated.as_ref());
        let is_purged = fated.is_some_and(|fated| purge.is_some_and(|until| fated.times[cell] <= until));
        if !self.hidden && !is_purged {
            if self.stayed {
                return Err(self.repeated(slot));
            }
            self.pick(slot, cell..cell + 1);
            self.stayed = self.input.rules.distinct;
        }
        self.ended |= (is_purged || newest) && self.input.rules.distinct;
        self.last = Some((slot, cell));
        Ok(())
    }

    fn pick(&mut self, slot: usize, run: Range<usize>) {
        self.last = Some((slot, run.end - 1));
        self.picked += run.len();
        match self.picks.last_mut() {
            Some(pick) if pick.goes_on_with(slot, &run) => pick.lengthen(run.len()),
            _ => self.picks.push(Pick::new(slot, run)),
        }
    }

    /// Returns `true` if two tiles belong to the same fragment, and the fragment has no timestamps.
    /// Their cells are then not versions of each other.
    fn were_written_together(&self, slot: usize, other: usize) -> bool {
        match (&self.slots[slot], &self.slots[other]) {
            (Some(a), Some(b)) => a.source == b.source && !self.input.sources[a.source].has_times(),
            _ => false,
        }
    }

    fn repeated(&self, slot: usize) -> Stop {
        Stop::Repeated(self.slots[slot].as_ref().map_or(0, |loaded| loaded.source))
    }

    /// Returns `true` if two cells have equal timestamps. Readers can see only the first of such
    /// versions. The reference library reads incorrect cells if a tile ends between two such
    /// versions.
    fn are_simultaneous(&self, (slot, cell): (usize, usize), (other, other_cell): (usize, usize)) -> bool {
        match (&self.slots[slot], &self.slots[other]) {
            (Some(a), Some(b)) => a.columns.times.of(cell) == b.columns.times.of(other_cell),
            _ => false,
        }
    }

    /// Returns `true` if two cells are versions of one cell.
    fn are_versions(&self, (slot, cell): (usize, usize), (other, other_cell): (usize, usize)) -> bool {
        let rules = self.input.rules;
        match (&self.slots[slot], &self.slots[other]) {
            (Some(a), Some(b)) => rules.distinct && a.place(rules, cell, b, other_cell).is_eq(),
            _ => false,
        }
    }

    fn push(&mut self, head: Head<K>) {
        let rules = self.input.rules;
        self.heads.push(head, |a, b| is_before(rules, &self.slots, a, b));
    }
}

/// Returns `true` if the next cell of tile `a` comes before that of tile `b`.
fn is_before<K: Key>(rules: Rules<'_>, slots: &[Option<Arc<Loaded<K>>>], a: Head<K>, b: Head<K>) -> bool {
    a.key < b.key
        || a.key == b.key
            && match (&slots[a.slot], &slots[b.slot]) {
                (Some(x), Some(y)) => x.compare(rules, a.cell, (y, b.cell)).is_lt(),
                _ => false,
            }
}
