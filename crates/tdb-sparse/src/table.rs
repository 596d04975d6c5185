//! The tiles at hand, and the runs of their cells that come next in the result.

use tdb_types::saturating_len;

use crate::context::Context;
use crate::held::Held;

/// Consecutive cells of a tile that are consecutive in the result as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The tile's place in the [`TileTable`].
    pub(super) slot: u32,
    /// The first cell.
    pub(super) start: u32,
    /// How many cells.
    pub(super) len: u32,
}

/// A tile at hand.
#[derive(Debug)]
pub(super) struct Tile {
    /// Whose tile it is, as an index into the context's sources.
    pub(super) source: usize,
    /// The tile's index in the fragment.
    pub(super) tile: u64,
    pub(super) cells: usize,
    /// For each selected field what is unfiltered already.
    pub(super) fields: Vec<Held>,
    /// About how many bytes a cell takes in a result, with what has to be held for it.
    pub(super) cell_bytes: usize,
    /// Whether more runs of the tile's cells may come.
    pub(super) open: bool,
    /// How many runs wait in the queue.
    queued: usize,
}

impl Tile {
    /// Keeps cells that were unfiltered already; how many bytes they take.
    pub(super) fn hold(&mut self, fields: Vec<(usize, Held)>) -> usize {
        let mut bytes = 0;
        for (field, held) in fields {
            bytes += held.memory();
            self.fields[field] = held;
        }
        self.cell_bytes = self.cell_bytes.saturating_add(bytes / self.cells.max(1));
        bytes
    }

    /// Whether cells are wanted after this many of the waiting runs.
    pub(super) fn is_wanted_after(&self, runs: usize) -> bool {
        self.open || self.queued > runs
    }
}

/// The tiles at hand. A tile's slot is free for another one when nothing waits for its cells.
#[derive(Debug, Default)]
pub(super) struct TileTable {
    slots: Vec<Tile>,
    free: Vec<u32>,
}

impl TileTable {
    /// Adds a tile, from which runs may come until it is [closed](Self::close).
    pub(super) fn add(&mut self, context: &Context, source: usize, tile: u64, cells: u32) -> u32 {
        let cell_bytes = cell_bytes(context, source, tile, cells);
        let mut fields = Vec::new();
        fields.resize_with(context.fields.len(), Held::default);
        let tile = Tile { source, tile, cells: cells as usize, fields, cell_bytes, open: true, queued: 0 };
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = tile;
                slot
            }
            None => {
                self.slots.push(tile);
                // Fewer tiles than cells, whose number is limited by memory.
                u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
            }
        }
    }

    /// Open tiles without fields.
    #[cfg(test)]
    pub(super) fn of_sizes(sizes: impl Iterator<Item = usize>) -> Self {
        let tile = |cells| Tile { source: 0, tile: 0, cells, fields: Vec::new(), cell_bytes: 1, open: true, queued: 0 };
        Self { slots: sizes.map(tile).collect(), free: Vec::new() }
    }

    /// How many slots there are.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> &Tile {
        &self.slots[slot as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut Tile {
        &mut self.slots[slot as usize]
    }

    /// Says that no more runs of the tile will come.
    pub(super) fn close(&mut self, context: &Context, slot: u32) {
        self.get_mut(slot).open = false;
        self.free_if_done(context, slot);
    }

    fn free_if_done(&mut self, context: &Context, slot: u32) {
        let tile = self.get_mut(slot);
        if !tile.open && tile.queued == 0 {
            tile.fields.drain(..).for_each(|mut held| context.spares.take_back(&mut held));
            self.free.push(slot);
        }
    }

    /// Lets go of tiles that these runs, just read, were the last of.
    pub(super) fn release(&mut self, context: &Context, done: &[Run]) {
        for run in done {
            self.get_mut(run.slot).queued -= 1;
            self.free_if_done(context, run.slot);
        }
    }

    /// Lets go of unfiltered cells as far as they take more than `bytes` in all; how many bytes are held then.
    pub(super) fn trim(&mut self, bytes: usize) -> usize {
        let mut held = 0_usize;
        for tile in &mut self.slots {
            let size: usize = tile.fields.iter().map(Held::memory).sum();
            if held.saturating_add(size) > bytes {
                tile.fields.iter_mut().for_each(|field| *field = Held::default());
            } else {
                held += size;
            }
        }
        held
    }
}

/// Bytes of a cell of this tile in the result, variable-length data at their average.
pub(super) fn cell_bytes(context: &Context, source: usize, tile: u64, cells: u32) -> usize {
    let source = &context.sources[source];
    let fields = context.fields.iter().zip(&source.fields).map(|(field, tiles)| {
        let values = match (field.cell_size(), tiles) {
            (Some(size), _) => size,
            (None, None) => 8 + field.fill.len(),
            (None, Some(tiles)) => {
                // Tiles that say to be larger will be refused; until then they count as the largest that aren't.
                let size = tiles.var_size(tile).min(tiles.tile_limit).div_ceil(u64::from(cells.max(1)));
                8_usize.saturating_add(saturating_len(size))
            }
        };
        values.saturating_add(usize::from(field.nullable))
    });
    fields.fold(1, usize::saturating_add)
}

/// Bytes of a run: one here, one in the batch before.
pub(super) const RUN_BYTES: usize = 2 * size_of::<Run>();

/// Runs in the order of the result.
#[derive(Debug, Default)]
pub(super) struct Runs {
    runs: Vec<Run>,
    /// About how many bytes their cells take in the result.
    bytes: usize,
}

impl Runs {
    /// About how many bytes the cells take in the result.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many runs there are.
    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Makes room for runs.
    pub(super) fn reserve(&mut self, runs: usize) {
        self.runs.reserve(runs);
    }

    /// Moves the runs of `other` behind these.
    pub(super) fn append(&mut self, other: &mut Self) {
        self.runs.append(&mut other.runs);
        self.bytes = self.bytes.saturating_add(std::mem::take(&mut other.bytes));
    }

    /// Appends cells that take `cell_bytes` each.
    #[inline]
    pub(super) fn push(&mut self, run: Run, cell_bytes: usize) {
        self.bytes = self.bytes.saturating_add(cell_bytes.saturating_mul(run.len as usize));
        match self.runs.last_mut() {
            Some(last) if last.slot == run.slot && last.start + last.len == run.start => last.len += run.len,
            _ => {
                self.bytes = self.bytes.saturating_add(RUN_BYTES);
                self.runs.push(run);
            }
        }
    }
}

/// The runs that cells of a tile, given by their indices, are.
pub(super) fn runs_of(slot: u32, cells: &[u32]) -> impl Iterator<Item = Run> {
    let runs = cells.chunk_by(|a, b| a + 1 == *b);
    runs.filter_map(move |run| Some(Run { slot, start: *run.first()?, len: u32::try_from(run.len()).ok()? }))
}

/// The runs that come next in the result.
#[derive(Debug, Default)]
pub(super) struct RunQueue {
    waiting: Runs,
    /// Those before this one have been taken.
    next: usize,
}

impl RunQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.next == self.waiting.runs.len()
    }

    /// About how many bytes the cells take in the result.
    pub(super) fn bytes(&self) -> usize {
        self.waiting.bytes
    }

    /// Appends cells of an open tile.
    #[inline]
    pub(super) fn push(&mut self, tiles: &mut TileTable, run: Run) {
        if run.len > 0 {
            let tile = tiles.get_mut(run.slot);
            let runs = self.waiting.runs.len();
            self.waiting.push(run, tile.cell_bytes);
            tile.queued += self.waiting.runs.len() - runs;
        }
    }

    /// Appends cells of an open tile, given by their indices.
    pub(super) fn push_list(&mut self, tiles: &mut TileTable, slot: u32, cells: &[u32]) {
        runs_of(slot, cells).for_each(|run| self.push(tiles, run));
    }

    /// Hands out the runs for more to be appended; [`put_back`](Self::put_back) takes them again.
    pub(super) fn take_out(&mut self) -> Runs {
        std::mem::take(&mut self.waiting)
    }

    /// Takes runs of open tiles of which those from the `known`th on are new.
    pub(super) fn put_back(&mut self, tiles: &mut TileTable, runs: Runs, known: usize) {
        runs.runs.iter().skip(known).for_each(|run| tiles.get_mut(run.slot).queued += 1);
        self.waiting = runs;
    }

    /// The tile of the next run.
    pub(super) fn next_slot(&self) -> Option<u32> {
        Some(self.waiting.runs.get(self.next)?.slot)
    }

    /// Moves runs whose cells fill a batch of about `budget` bytes, one cell at least, into the empty `taken`.
    ///
    /// A run that doesn't fit as a whole is cut only if the batch would be less than half full without it, or have fewer
    /// than `least` runs: the rest of a cut tile has to be held, or unfiltered once more.
    pub(super) fn take(&mut self, tiles: &mut TileTable, budget: usize, least: usize, taken: &mut Vec<Run>) {
        // An engine stops when it has given enough: leaving the little that is too much would mean to copy the rest.
        if self.next == 0 && self.waiting.bytes <= budget.saturating_add(budget / 8) {
            std::mem::swap(&mut self.waiting.runs, taken);
        } else {
            self.take_some(tiles, budget, least, taken);
        }
        if self.is_empty() {
            self.waiting.runs.clear();
            (self.next, self.waiting.bytes) = (0, 0);
        }
    }

    fn take_some(&mut self, tiles: &mut TileTable, budget: usize, least: usize, taken: &mut Vec<Run>) {
        let mut room = budget;
        while let Some(run) = self.waiting.runs.get_mut(self.next) {
            let tile = tiles.get_mut(run.slot);
            let fitting = u32::try_from(room / tile.cell_bytes).unwrap_or(u32::MAX);
            let len = fitting.max(u32::from(taken.is_empty())).min(run.len);
            let is_full = taken.len() >= least.max(1) && room <= budget / 2;
            if len == 0 || len < run.len && is_full {
                break;
            }
            let bytes = tile.cell_bytes.saturating_mul(len as usize);
            room = room.saturating_sub(bytes);
            self.waiting.bytes = self.waiting.bytes.saturating_sub(bytes);
            taken.push(Run { len, ..*run });
            if len < run.len {
                run.start += len;
                run.len -= len;
                // The rest waits as a run of its own.
                tile.queued += 1;
                break;
            }
            self.next += 1;
        }
    }
}
