//! Cells of several fragments in one order.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use super::source::Source;
use super::tile::{Loaded, Rules};
use crate::order::key::Key;
use crate::{Array, ArrayError};

/// Why a merge can't go on.
#[derive(Debug)]
pub(super) enum Stop {
    Error(ArrayError),
    /// The cells of this source aren't in the order that it was thought to have: it is to be sorted, from the start.
    OutOfOrder(usize),
}

impl From<ArrayError> for Stop {
    fn from(error: ArrayError) -> Self {
        Self::Error(error)
    }
}

/// Which cells of equal coordinates stay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    /// The newest one alone.
    pub(super) newest: bool,
    /// None that was deleted until then, and no older one.
    pub(super) purge: Option<u64>,
}

/// What is merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a> {
    pub(super) array: &'a Array,
    pub(super) sources: &'a [Source],
    pub(super) rules: Rules<'a>,
    pub(super) keep: Keep,
    /// Sources whose tiles are sorted, and opened wherever their cells begin.
    pub(super) unordered: &'a BTreeSet<usize>,
}

impl Input<'_> {
    fn load<K: Key>(&self, source: usize, tile: u64) -> Result<Loaded<K>, Stop> {
        let Self { array, sources, rules, unordered, .. } = *self;
        array.workers().check()?;
        let is_unordered = unordered.contains(&source);
        let columns = sources[source].load(array, tile, is_unordered)?;
        if is_unordered {
            return Ok(Loaded::sorted(rules, source, tile, columns));
        }
        Loaded::in_order(rules, source, tile, columns).ok_or(Stop::OutOfOrder(source))
    }
}

/// Whether the cells of a source are in order, from the first to the last; of each tile only what decides that is read.
pub(super) fn is_in_order<K: Key>(input: Input<'_>, source: usize) -> Result<bool, ArrayError> {
    let mut before: Option<Loaded<K>> = None;
    for tile in 0..input.sources[source].tile_count() {
        let next = match input.load(source, tile) {
            Ok(next) => next,
            Err(Stop::OutOfOrder(_)) => return Ok(false),
            Err(Stop::Error(error)) => return Err(error),
        };
        if before.is_some_and(|before| !next.is_behind(input.rules, &before)) {
            return Ok(false);
        }
        before = Some(next);
    }
    Ok(true)
}

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
}

/// Tiles that are open, and which of their cells come next.
pub(super) struct Merge<'a, K: Key> {
    input: Input<'a>,
    slots: Vec<Option<Loaded<K>>>,
    /// The next cell of each tile: a heap, the first one at its head.
    heads: Vec<Head<K>>,
    /// Tiles that aren't open yet, the one with the least key last.
    waiting: Vec<Waiting<K>>,
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
struct Head<K> {
    key: K,
    slot: usize,
    cell: usize,
}

#[derive(Clone, Copy, Debug)]
struct Waiting<K> {
    low: K,
    source: usize,
    tile: u64,
}

impl<'a, K: Key> Merge<'a, K> {
    pub(super) fn new(input: Input<'a>) -> Result<Self, Stop> {
        let mut waiting = Vec::new();
        for (index, source) in input.sources.iter().enumerate() {
            let tiles = if input.unordered.contains(&index) { source.tile_count() } else { source.tile_count().min(1) };
            for tile in 0..tiles {
                let (low, _) = input.rules.order.ends::<K>(&source.bounds(tile)?.0);
                waiting.push(Waiting { low, source: index, tile });
            }
        }
        waiting.sort_by_key(|waiting| Reverse(waiting.low));
        Ok(Self {
            input,
            slots: Vec::new(),
            heads: Vec::new(),
            waiting,
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
            let Some(head) = self.pop() else { return Ok(false) };
            let room = cells - self.picked;
            let end = self.end_of_run(head).min(head.cell + room);
            self.emit(head.slot, head.cell..end);
            match self.slots[head.slot].as_ref().and_then(|loaded| loaded.keys.get(end)) {
                Some(key) => self.push(Head { key: *key, slot: head.slot, cell: end }),
                None => self.advance(head.slot)?,
            }
        }
        Ok(true)
    }

    /// The cells that were picked, and how many they are.
    pub(super) fn picks(&self) -> (&[Pick], usize) {
        (&self.picks, self.picked)
    }

    /// The tile and its cells that a pick means.
    pub(super) fn cells_of(&self, pick: &Pick) -> Option<(&Loaded<K>, Range<usize>)> {
        let start = pick.start as usize;
        Some((self.slots[pick.slot as usize].as_ref()?, start..start + pick.len as usize))
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

    /// Unfilters what is missing of the fields of the new fragment: for some picks all of them, for others those that can't
    /// be copied.
    pub(super) fn load_missing(&mut self, fields: usize, is_copied: impl Fn(usize) -> bool) -> Result<(), ArrayError> {
        let mut jobs = BTreeSet::new();
        for (number, pick) in self.picks.iter().enumerate() {
            let Some(loaded) = &self.slots[pick.slot as usize] else { continue };
            let source = &self.input.sources[loaded.source];
            let wanted = (0..fields).filter(|field| !(is_copied(number) && source.copied(*field).is_some()));
            let missing = wanted.filter_map(|field| source.place_of(field));
            let missing = missing.filter(|place| loaded.columns.missing.contains(place));
            jobs.extend(missing.map(|place| (pick.slot as usize, place)));
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
            let loaded = self.input.load(next.source, next.tile)?;
            self.open(loaded)?;
        }
        Ok(())
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
        let next = self.input.load(source, tile)?;
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
                    && next.is_some_and(|next| self.is_before(Head { key: keys[cell], slot: head.slot, cell }, *next))
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

    fn is_before(&self, a: Head<K>, b: Head<K>) -> bool {
        a.key < b.key
            || a.key == b.key
                && match (&self.slots[a.slot], &self.slots[b.slot]) {
                    (Some(x), Some(y)) => x.compare(self.input.rules, a.cell, (y, b.cell)).is_lt(),
                    _ => false,
                }
    }

    fn push(&mut self, head: Head<K>) {
        let mut at = self.heads.len();
        self.heads.push(head);
        while at > 0 && self.is_before(self.heads[at], self.heads[(at - 1) / 2]) {
            self.heads.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn pop(&mut self) -> Option<Head<K>> {
        let last = self.heads.len().checked_sub(1)?;
        let first = self.heads.swap_remove(0);
        let mut at = 0;
        loop {
            let least = (2 * at + 1..(2 * at + 3).min(last)).fold(at, |least, child| {
                if self.is_before(self.heads[child], self.heads[least]) { child } else { least }
            });
            if least == at {
                return Some(first);
            }
            self.heads.swap(at, least);
            at = least;
        }
    }
}
