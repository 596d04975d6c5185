//! Cells of several fragments in one order.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use super::batch::{Batch, Reach};
use super::columns::Column;
use super::heads::{Head, Heads};
use super::input::{Input, Keep, Stop};
use super::slice::Slice;
use super::slices::{Slices, Spread, spreads};
use super::source::Source;
use super::tile::{Loaded, Rules};
use crate::ArrayError;
use crate::order::key::{Entry, Key};

/// Runs of so many cells are picked one after the other; where they are shorter, cells of all tiles are sorted.
const LONG_RUN: usize = 16;
/// Cells are only sorted if they are so many for each open tile.
const CELLS_OF_A_TILE: usize = 4;

/// Cells that follow each other, also in a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    slot: u32,
    start: u32,
    len: u32,
}

impl Pick {
    /// How many cells.
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// The slot of its tile.
    pub(super) fn slot(&self) -> usize {
        self.slot as usize
    }

    /// The cells of the tile.
    pub(super) fn cells(&self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.len as usize
    }
}

/// Tiles that are open, and which of their cells come next.
pub(super) struct Merge<'a, K: Key> {
    input: Input<'a>,
    slots: Vec<Option<Loaded<K>>>,
    heads: Heads<K>,
    /// Tiles that aren't open yet, the one with the least key last.
    waiting: Vec<Waiting<K>>,
    /// All tiles of unordered sources, and the slices in which they are opened.
    spreads: Vec<Spread<K>>,
    slices: Slices<K>,
    slice: Slice<K>,
    batch: Batch<K>,
    /// How many runs are picked before cells are sorted again, since few could be.
    patience: usize,
    /// The last cell that was looked at.
    last: Option<(usize, usize)>,
    /// Whether no more cells of its coordinates stay.
    ended: bool,
    picks: Vec<Pick>,
    picked: usize,
    /// Tiles that have no more cells, but some that were picked.
    spent: Vec<usize>,
    spent_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct Waiting<K> {
    low: K,
    what: Due,
}

/// What begins at a key.
#[derive(Clone, Copy, Debug)]
enum Due {
    /// A tile of a source.
    Tile(usize, u64),
    /// The slice of this number.
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
            picks: Vec::new(),
            picked: 0,
            spent: Vec::new(),
            spent_bytes: 0,
        })
    }

    /// Picks about so many cells, or fewer if they lie in too much memory; whether there are more.
    pub(super) fn fill(&mut self, cells: usize, memory: usize) -> Result<bool, Stop> {
        while self.picked < cells.max(1) && self.spent_bytes < memory.max(1) {
            self.open_due()?;
            let rules = self.input.rules;
            let Some(head) = self.heads.pop(|a, b| is_before(rules, &self.slots, a, b)) else { return Ok(false) };
            let room = cells - self.picked;
            let end = self.end_of_run(head);
            let is_short = end - head.cell < LONG_RUN && self.patience == 0;
            if is_short && !self.heads.all().is_empty() && room / CELLS_OF_A_TILE > self.heads.all().len() {
                self.push(head);
                self.pick_sorted(room)?;
                continue;
            }
            self.patience = self.patience.saturating_sub(1);
            let end = end.min(head.cell + room);
            self.emit(head.slot, head.cell..end);
            self.go_on(head.slot, end)?;
        }
        Ok(true)
    }

    /// Picks cells of all open tiles, as far as nothing else can come in between.
    fn pick_sorted(&mut self, room: usize) -> Result<(), Stop> {
        let Input { array, sources, rules, unordered, .. } = self.input;
        let mut batch = std::mem::take(&mut self.batch);
        let heads = self.heads.take();
        let reach = Reach { below: self.waiting.last().map(|waiting| waiting.low), most: room / heads.len().max(1) };
        let goes_on = |loaded: &Loaded<K>| {
            !unordered.contains(&loaded.source) && loaded.tile + 1 < sources[loaded.source].tile_count()
        };
        let count = batch.take((array.workers(), rules), &self.slots, &heads, reach, goes_on);
        // Buckets that were cancelled aren't sorted.
        array.workers().check()?;
        self.emit_sorted(batch.entries());
        for (head, end) in heads.iter().zip(batch.ends()) {
            self.go_on(head.slot, *end)?;
        }
        if count < CELLS_OF_A_TILE * heads.len() {
            // Looking at all tiles was hardly worth it, or nothing came of it.
            self.patience = heads.len();
        }
        self.batch = batch;
        Ok(())
    }

    /// Goes on with a cell of an open tile, or with the next tile if there is none.
    fn go_on(&mut self, slot: usize, cell: usize) -> Result<(), Stop> {
        match self.slots[slot].as_ref().and_then(|loaded| loaded.keys.get(cell)) {
            Some(key) => {
                self.push(Head { key: *key, slot, cell });
                Ok(())
            }
            None => self.advance(slot),
        }
    }

    /// The cells that were picked, and how many they are.
    pub(super) fn picks(&self) -> (&[Pick], usize) {
        (&self.picks, self.picked)
    }

    /// The tile and its cells that a pick means.
    pub(super) fn cells_of(&self, pick: &Pick) -> Option<(&Loaded<K>, Range<usize>)> {
        Some((self.slots[pick.slot()].as_ref()?, pick.cells()))
    }

    /// A field of the new fragment in each tile that is open, by its slot.
    pub(super) fn columns(&self, field: usize) -> Vec<Column<'_>> {
        let mut columns = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            columns.push(match slot {
                Some(loaded) => self.input.sources[loaded.source].column(field, &loaded.columns),
                None => Column::Fill,
            });
        }
        columns
    }

    pub(super) fn sources(&self) -> &[Source] {
        self.input.sources
    }

    /// How many cells the tile has that a pick is from, if the pick has all of them and they lie in it as in the file.
    pub(super) fn whole_tile(&self, pick: &Pick) -> Option<usize> {
        let loaded = self.slots[pick.slot as usize].as_ref()?;
        let cells = loaded.columns.cells;
        (loaded.is_as_stored && pick.len as usize == cells).then_some(cells)
    }

    /// Unfilters what is missing of the fields of the new fragment, for stretches of the picks: of tiles that become tiles all
    /// that can't be copied, else everything.
    pub(super) fn load_missing(
        &mut self,
        fields: usize,
        stretches: impl Iterator<Item = (Range<usize>, bool)>,
    ) -> Result<(), ArrayError> {
        let mut wanted = vec![None; self.slots.len()];
        for (picks, is_copied) in stretches {
            for pick in &self.picks[picks] {
                let wanted = &mut wanted[pick.slot()];
                *wanted = Some(is_copied && *wanted != Some(false));
            }
        }
        let mut jobs = BTreeSet::new();
        for (slot, wanted) in wanted.into_iter().enumerate() {
            let (Some(is_copied), Some(loaded)) = (wanted, &self.slots[slot]) else { continue };
            let source = &self.input.sources[loaded.source];
            let wanted = (0..fields).filter(|field| !(is_copied && source.copied(*field).is_some()));
            let missing = wanted.filter_map(|field| source.place_of(field));
            let missing = missing.filter(|place| loaded.columns.missing.contains(place));
            jobs.extend(missing.map(|place| (slot, place)));
        }
        let jobs: Vec<(usize, usize, &Loaded<K>)> =
            jobs.into_iter().filter_map(|(slot, place)| Some((slot, place, self.slots[slot].as_ref()?))).collect();
        let memory = |place, loaded: &Loaded<K>| {
            self.input.sources[loaded.source].field_memory(place, loaded.tile, loaded.columns.cells)
        };
        let bytes = jobs.iter().map(|(_, place, loaded)| memory(*place, loaded) as u64).sum();
        let read = self.input.array.workers().map(bytes, jobs, |(slot, place, loaded), scratch| {
            let source = &self.input.sources[loaded.source];
            let cells = source.field(place, loaded.tile, loaded.columns.cells, scratch)?;
            Ok((slot, place, memory(place, loaded), cells))
        })?;
        for (slot, place, memory, cells) in read {
            let Some(loaded) = &mut self.slots[slot] else { continue };
            loaded.columns.fields[place] = cells;
            loaded.columns.missing.retain(|missing| *missing != place);
            loaded.columns.missing_bytes = loaded.columns.missing_bytes.saturating_sub(memory);
        }
        Ok(())
    }

    /// Lets go of what was picked.
    pub(super) fn release(&mut self) {
        self.picks.clear();
        (self.picked, self.spent_bytes) = (0, 0);
        let last = self.last.map(|(slot, _)| slot);
        for slot in std::mem::take(&mut self.spent) {
            if Some(slot) == last { self.spent.push(slot) } else { self.slots[slot] = None }
        }
    }

    /// Opens the tiles that may have the next cell.
    fn open_due(&mut self) -> Result<(), Stop> {
        while let Some(next) = self.waiting.last().copied()
            && self.heads.first().is_none_or(|head| next.low <= head.key)
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

    /// Lets the tiles of unordered sources wait that have cells in a slice, and then the next slice.
    fn begin_slice(&mut self, number: usize) {
        let Some(slice) = self.slices.get(number) else { return };
        self.slice = slice;
        let tiles = self.spreads.iter().filter(|tile| tile.meets(slice));
        let due = |tile: &Spread<K>| Waiting { low: tile.low.max(slice.from), what: Due::Tile(tile.source, tile.tile) };
        self.waiting.extend(tiles.map(due));
        self.waiting.extend(slice.below.map(|low| Waiting { low, what: Due::Slice(number + 1) }));
        self.waiting.sort_by_key(|waiting| Reverse(waiting.low));
    }

    /// Takes up a tile.
    fn open(&mut self, loaded: Loaded<K>) -> Result<(), Stop> {
        let free = self.slots.iter().position(Option::is_none);
        let slot = free.unwrap_or(self.slots.len());
        if free.is_none() {
            self.slots.push(None);
        }
        let first = loaded.keys.first().copied();
        self.slots[slot] = Some(loaded);
        match first {
            Some(key) => {
                self.push(Head { key, slot, cell: 0 });
                Ok(())
            }
            None => self.advance(slot),
        }
    }

    /// Goes on with the next tile of the same source.
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

    /// Up to which cell of the tile none of another tile comes in between; the first one is known to be next.
    fn end_of_run(&self, head: Head<K>) -> usize {
        let Some(loaded) = &self.slots[head.slot] else { return head.cell };
        let keys = &loaded.keys;
        let low = self.waiting.last().map(|waiting| waiting.low);
        let next = self.heads.first();
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

    /// Picks those of a run of cells that stay.
    fn emit(&mut self, slot: usize, run: Range<usize>) {
        let Keep { newest, purge } = self.input.keep;
        if newest || purge.is_some() {
            return run.for_each(|cell| self.emit_one(slot, cell));
        }
        if !self.input.rules.distinct {
            return self.pick(slot, run);
        }
        let is_distinct = self.slots[slot].as_ref().is_some_and(|loaded| {
            !self.input.sources[loaded.source].has_times() && !self.input.unordered.contains(&loaded.source)
        });
        // Where each cell of the fragment is another one, the first of the run alone can be a version of the last.
        let checked = if is_distinct { run.start + 1 } else { run.end };
        for cell in run.start..checked.min(run.end) {
            if self
                .last
                .is_some_and(|last| self.are_versions(last, (slot, cell)) && self.are_simultaneous(last, (slot, cell)))
            {
                self.last = Some((slot, cell));
            } else {
                self.pick(slot, cell..cell + 1);
            }
        }
        if checked < run.end {
            self.pick(slot, checked..run.end);
        }
    }

    /// Picks those of cells in order that stay.
    fn emit_sorted(&mut self, entries: &[K::Entry]) {
        let Keep { newest, purge } = self.input.keep;
        let is_plain = !newest && purge.is_none();
        let mut before = None;
        for entry in entries {
            let (slot, cell) = entry.place();
            let (slot, cell) = (slot as usize, cell as usize);
            // Cells with different keys aren't versions of each other.
            match is_plain && before.is_some_and(|before| before != entry.key()) {
                true => self.pick(slot, cell..cell + 1),
                false => self.emit(slot, cell..cell + 1),
            }
            before = Some(entry.key());
        }
    }

    /// Picks a cell, unless it is an older version than one that stays, or was purged.
    fn emit_one(&mut self, slot: usize, cell: usize) {
        let Keep { newest, purge } = self.input.keep;
        let mut is_shadowed = false;
        match self.last.filter(|last| self.are_versions(*last, (slot, cell))) {
            Some(last) => is_shadowed = self.are_simultaneous(last, (slot, cell)),
            None => self.ended = false,
        }
        let loaded = self.slots[slot].as_ref();
        let fated = loaded.and_then(|loaded| loaded.columns.fated.as_ref());
        let is_purged = fated.is_some_and(|fated| purge.is_some_and(|until| fated.times[cell] <= until));
        if !self.ended && !is_purged && !is_shadowed {
            self.pick(slot, cell..cell + 1);
        }
        self.ended |= (is_purged || newest) && self.input.rules.distinct;
        self.last = Some((slot, cell));
    }

    #[allow(clippy::cast_possible_truncation)] // tiles have fewer cells than 2^32
    fn pick(&mut self, slot: usize, run: Range<usize>) {
        self.last = Some((slot, run.end - 1));
        self.picked += run.len();
        match self.picks.last_mut() {
            Some(pick) if pick.slot as usize == slot && (pick.start + pick.len) as usize == run.start => {
                pick.len += run.len() as u32;
            }
            _ => self.picks.push(Pick { slot: slot as u32, start: run.start as u32, len: run.len() as u32 }),
        }
    }

    /// Whether two cells were written at the same time: of versions of one then only the first can ever show, and readers of
    /// the reference library go wrong where a tile ends between them.
    fn are_simultaneous(&self, (slot, cell): (usize, usize), (other, other_cell): (usize, usize)) -> bool {
        match (&self.slots[slot], &self.slots[other]) {
            (Some(a), Some(b)) => a.columns.times.of(cell) == b.columns.times.of(other_cell),
            _ => false,
        }
    }

    /// Whether two cells are versions of one.
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

/// Which of the next cells of two tiles comes first.
fn is_before<K: Key>(rules: Rules<'_>, slots: &[Option<Loaded<K>>], a: Head<K>, b: Head<K>) -> bool {
    a.key < b.key
        || a.key == b.key
            && match (&slots[a.slot], &slots[b.slot]) {
                (Some(x), Some(y)) => x.compare(rules, a.cell, (y, b.cell)).is_lt(),
                _ => false,
            }
}
