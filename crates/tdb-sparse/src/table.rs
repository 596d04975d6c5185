//! Loaded tiles, and the queue of runs for the result.

use tdb_types::saturating_len;

use crate::context::Context;
use crate::held::Held;

/// Consecutive cells of a tile that are also consecutive in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Slot of the tile in the [`TileTable`].
    pub(super) slot: u32,
    /// Index of the first cell.
    pub(super) start: u32,
    /// Number of cells.
    pub(super) len: u32,
}

/// A loaded tile.
#[derive(Debug)]
pub(super) struct Tile {
    /// Index of the tile's source in the context.
    pub(super) source: usize,
    /// Index of the tile in the fragment.
    pub(super) tile: u64,
    pub(super) cells: usize,
    /// Unfiltered cells of each selected field.
    pub(super) fields: Vec<Held>,
    /// Estimated bytes per cell, in the result and in held buffers together.
    pub(super) cell_bytes: usize,
    /// `true` if more runs of the tile may follow.
    pub(super) open: bool,
    /// Number of the tile's runs in the queue.
    queued: usize,
}

impl Tile {
    /// Keeps unfiltered cells. Returns the memory in bytes.
    pub(super) fn hold(&mut self, fields: Vec<(usize, Held)>) -> usize {
        let mut bytes = 0;
        for (field, held) in fields {
            bytes += held.memory();
            self.fields[field] = held;
        }
        self.cell_bytes = self.cell_bytes.saturating_add(bytes / self.cells.max(1));
        bytes
    }

    /// Returns `true` if the tile is still needed after `runs` of its queued runs.
    pub(super) fn is_wanted_after(&self, runs: usize) -> bool {
        self.open || self.queued > runs
    }
}

/// The loaded tiles. A slot becomes free when the tile is closed and no runs are queued.
#[derive(Debug, Default)]
pub(super) struct TileTable {
    slots: Vec<Tile>,
    free: Vec<u32>,
}

impl TileTable {
    /// Adds a tile and returns the slot. Runs of the tile may be queued until the tile is
    /// [closed](Self::close).
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
                // Fits: fewer tiles than cells, and memory limits the number of cells.
                u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
            }
        }
    }

    /// Creates open tiles without fields.
    #[cfg(test)]
    pub(super) fn of_sizes(sizes: impl Iterator<Item = usize>) -> Self {
        let tile = |cells| Tile { source: 0, tile: 0, cells, fields: Vec::new(), cell_bytes: 1, open: true, queued: 0 };
        Self { slots: sizes.map(tile).collect(), free: Vec::new() }
    }

    /// Returns the number of slots.
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

    /// Declares the end of the tile's runs.
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

    /// Marks runs as read and frees unneeded tiles.
    pub(super) fn release(&mut self, context: &Context, done: &[Run]) {
        for run in done {
            self.get_mut(run.slot).queued -= 1;
            self.free_if_done(context, run.slot);
        }
    }

    /// Drops unfiltered cells beyond a total of `bytes`. Returns the bytes still held.
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

/// Estimates the bytes per cell of a tile in the result. Variable-length data counts with the
/// average size.
pub(super) fn cell_bytes(context: &Context, source: usize, tile: u64, cells: u32) -> usize {
    let source = &context.sources[source];
    let fields = context.fields.iter().zip(&source.fields).map(|(field, tiles)| {
        let values = match (field.cell_size(), tiles) {
            (Some(size), _) => size,
            (None, None) => 8 + field.fill.len(),
            (None, Some(tiles)) => {
                // Tiles with a larger claimed size are rejected later. Until then the limit counts.
                let size = tiles.var_size(tile).min(tiles.tile_limit).div_ceil(u64::from(cells.max(1)));
                8_usize.saturating_add(saturating_len(size))
            }
        };
        values.saturating_add(usize::from(field.nullable))
    });
    fields.fold(1, usize::saturating_add)
}

/// Memory of a run: once here and once in the previous batch.
pub(super) const RUN_BYTES: usize = 2 * size_of::<Run>();

/// Runs in result order.
#[derive(Debug, Default)]
pub(super) struct Runs {
    runs: Vec<Run>,
    /// Estimated bytes of the cells in the result.
    bytes: usize,
}

impl Runs {
    /// Returns the estimated bytes of the cells in the result.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of runs.
    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Reserves memory for further runs.
    pub(super) fn reserve(&mut self, runs: usize) {
        self.runs.reserve(runs);
    }

    /// Moves the runs of `other` to the end.
    pub(super) fn append(&mut self, other: &mut Self) {
        self.runs.append(&mut other.runs);
        self.bytes = self.bytes.saturating_add(std::mem::take(&mut other.bytes));
    }

    /// Appends a run of cells of `cell_bytes` bytes each.
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

/// Groups cell indices of a tile into runs.
pub(super) fn runs_of(slot: u32, cells: &[u32]) -> impl Iterator<Item = Run> {
    let runs = cells.chunk_by(|a, b| a + 1 == *b);
    runs.filter_map(move |run| Some(Run { slot, start: *run.first()?, len: u32::try_from(run.len()).ok()? }))
}

/// The next runs of the result.
#[derive(Debug, Default)]
pub(super) struct RunQueue {
    waiting: Runs,
    /// Index of the first waiting run.
    next: usize,
}

impl RunQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.next == self.waiting.runs.len()
    }

    /// Returns the estimated bytes of the cells in the result.
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

    /// Appends cells of an open tile, given by index.
    pub(super) fn push_list(&mut self, tiles: &mut TileTable, slot: u32, cells: &[u32]) {
        runs_of(slot, cells).for_each(|run| self.push(tiles, run));
    }

    /// Takes all runs out of the queue, so that a merge can append runs. Return the runs with
    /// [`put_back`](Self::put_back).
    pub(super) fn take_out(&mut self) -> Runs {
        std::mem::take(&mut self.waiting)
    }

    /// Returns runs of open tiles to the queue. Runs from index `known` on are new.
    pub(super) fn put_back(&mut self, tiles: &mut TileTable, runs: Runs, known: usize) {
        runs.runs.iter().skip(known).for_each(|run| tiles.get_mut(run.slot).queued += 1);
        self.waiting = runs;
    }

    /// Returns the slot of the next run.
    pub(super) fn next_slot(&self) -> Option<u32> {
        Some(self.waiting.runs.get(self.next)?.slot)
    }

    /// Moves runs for a batch of about `budget` bytes, but at least one cell, into the empty
    /// `taken`.
    ///
    /// Cuts a run only if the batch would otherwise be less than half full or have fewer than
    /// `least` runs. The rest of a cut tile must be held in memory or unfiltered again.
    pub(super) fn take(&mut self, tiles: &mut TileTable, budget: usize, least: usize, taken: &mut Vec<Run>) {
        // Engines stop when the queue has enough cells for a batch. Leaving a small excess in the
        // queue would require a copy of the rest.
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
                // The rest stays in the queue as a separate run.
                tile.queued += 1;
                break;
            }
            self.next += 1;
        }
    }
}
