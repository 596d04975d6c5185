//! Writing of cells in global order, in batches of any size.

mod output;
mod pending;
mod sequence;
mod slices;

use std::ops::Range;
use std::sync::Arc;

use tdb_cells::WriteBatch;
use tdb_rtree::NdRange;
use tdb_snapshot::{ArrayError, Result};
use tdb_types::saturating_len;

use crate::check::{CheckedCells, check};
use crate::coordinates::coordinates;
use crate::encoder::Run;
use crate::promises::Promises;
use crate::region::{cells_in, check_count};
use crate::target::Target;
use crate::windows::{EncodedWindow, next};
use crate::{Duplicates, Settings, Written, commit};
use output::Output;
use pending::Pending;
use sequence::{Kept, Sequence};
use slices::Slices;

/// A write in global order, created by [`Write::global_order`](super::Write::global_order). Takes
/// batches of any size and writes one fragment, or several fragments of limited size. Memory stays
/// within the budget.
///
/// No cell becomes visible before [`commit`](Self::commit). A writer that is dropped earlier
/// removes its files.
#[derive(Debug)]
pub struct GlobalWriter {
    target: Arc<Target>,
    settings: Settings,
    /// Checks the order of sparse cells. `None` for a dense array.
    sequence: Option<Sequence>,
    tile_cells: usize,
    /// Number of cells to collect before encoding. A multiple of the tile size.
    window: usize,
    /// `true` if encoded tiles are written while the next tiles are encoded.
    overlaps: bool,
    promises: Promises,
    /// Number of cells held back until the end: 1 if the next cell may replace the last cell, else
    /// 0.
    held_back: usize,
    pending: Vec<Pending>,
    /// Number of cells in `pending`.
    waiting: usize,
    /// Number of given cells.
    received: u64,
    /// Number of kept cells.
    kept: u64,
    /// Encoded tiles to write while the next tiles are encoded.
    encoded: Option<EncodedWindow>,
    output: Output,
    /// `true` if some of the given cells were dropped.
    has_dropped: bool,
    /// `true` after an error. The writer then accepts no more cells.
    failed: bool,
}

impl GlobalWriter {
    pub(super) fn new(
        target: Arc<Target>,
        settings: Settings,
        region: NdRange,
        max_fragment_size: Option<u64>,
    ) -> Result<Self> {
        let schema = &target.schema;
        let (sequence, slices, tile_cells, keeps_last) = if schema.is_dense() {
            let cells = schema.cells_per_tile().map_err(|error| ArrayError::Write(error.to_string()))?;
            (None, Some(Box::new(Slices::new(&target, region)?)), cells, false)
        } else {
            let duplicates = settings.duplicates(schema)?;
            let keeps_last = duplicates == Duplicates::KeepLast;
            (Some(Sequence::new(schema, duplicates)?), None, schema.capacity(), keeps_last)
        };
        let tile_cells = saturating_len(tile_cells);
        // The unfiltered and the filtered form of the cells are in memory, and with several threads
        // also the filtered form of the previous window.
        let times = if target.array.workers().threads() > 1 { 3 } else { 2 };
        let window = settings.window_of(&target, target.cell_size().saturating_mul(times), tile_cells);
        let output = Output::new(&target, &settings.names, slices, max_fragment_size);
        let pending = target.fields.iter().map(|_| Pending::default()).collect();
        Ok(Self {
            target,
            settings,
            sequence,
            tile_cells,
            window: window.tiles.saturating_mul(tile_cells),
            overlaps: window.overlaps,
            promises: Promises::default(),
            held_back: usize::from(keeps_last),
            pending,
            waiting: 0,
            received: 0,
            kept: 0,
            encoded: None,
            output,
            has_dropped: false,
            failed: false,
        })
    }

    /// Appends the next cells.
    ///
    /// # Errors
    /// The columns or cells do not fit the array, cells are out of order, a dense array gets more
    /// cells than the ranges contain, the storage fails, or an earlier call failed. Error messages
    /// number the cells across all batches. After an error, the writer accepts no more cells and
    /// cannot be committed.
    pub fn push<'a>(&mut self, cells: impl Into<WriteBatch<'a>>) -> Result<()> {
        if self.failed {
            return Err(ArrayError::Write("the write has already failed; start a new write".to_owned()));
        }
        let result = self.take(&cells.into());
        self.failed = result.is_err();
        result
    }

    fn take(&mut self, cells: &WriteBatch<'_>) -> Result<()> {
        let target = Arc::clone(&self.target);
        let cells = check(&target.schema, cells, self.received, self.settings.any_utf8)?;
        if cells.len == 0 {
            // An empty batch has no coordinates and no order to check.
            return Ok(());
        }
        self.promises.follow(&target.schema, &cells, self.received)?;
        let kept = match &mut self.sequence {
            Some(sequence) => {
                let (columns, _) = coordinates(&target.schema, target.array.workers(), &cells, self.received)?;
                sequence.follow(&target.schema, &columns, cells.len, self.received)?
            }
            None => Kept::default(),
        };
        if let Some(slices) = &self.output.slices {
            let given = u128::from(self.received) + cells.len as u128;
            if given > cells_in(&slices.region) {
                check_count(&slices.region, given)?;
            }
        }
        self.received += cells.len as u64;
        if kept.replaces_last {
            self.target.fields.iter().zip(&mut self.pending).for_each(|(field, pending)| pending.pop(field));
            self.waiting -= 1;
            self.kept -= 1;
        }
        self.has_dropped |= kept.replaces_last || kept.cells.is_some();
        let count = kept.cells.as_ref().map_or(cells.len, Vec::len);
        let mut done = 0;
        while done < count {
            let left = count - done;
            if kept.cells.is_none() && self.waiting == 0 && left >= self.tile_cells + self.held_back {
                // Encode complete tiles without a copy.
                let tiles = (left - self.held_back).min(self.window) / self.tile_cells;
                self.write_column_tiles(&cells, done..done + tiles * self.tile_cells)?;
                done += tiles * self.tile_cells;
                continue;
            }
            let completing = self.tile_cells - self.waiting % self.tile_cells;
            // If complete tiles follow, complete and write the tile of the waiting cells first.
            let clears = self.held_back == 0 && left >= completing + self.tile_cells;
            let end = count.min(done + if clears { completing } else { self.room() });
            self.append(&cells, kept.cells.as_deref(), done..end);
            done = end;
            if clears || self.is_full() {
                self.flush(false)?;
            }
        }
        Ok(())
    }

    /// Returns the number of cells that can still be added to the waiting cells, at least 1.
    fn room(&self) -> usize {
        (self.window + self.held_back).saturating_sub(self.waiting).max(1)
    }

    fn is_full(&self) -> bool {
        // Variable-length cells may take more memory than estimated.
        let memory: usize = self.pending.iter().map(Pending::memory).sum();
        let whole = self.waiting >= self.tile_cells + self.held_back;
        whole && (self.waiting >= self.window + self.held_back || memory > self.settings.budget)
    }

    /// Encodes and writes tiles directly from the given columns.
    fn write_column_tiles(&mut self, cells: &CheckedCells<'_>, range: Range<usize>) -> Result<()> {
        let tile_cells = self.tile_cells;
        let tiles: Vec<Range<usize>> =
            range.clone().step_by(tile_cells).map(|start| start..start + tile_cells).collect();
        let bytes = range.len().saturating_mul(self.target.cell_size()) as u64;
        let target = Arc::clone(&self.target);
        self.kept += range.len() as u64;
        let number = self.numbers(self.kept - range.len() as u64);
        let (before, output) = (self.encoded.take(), &mut self.output);
        let encode = || {
            let encoded = target.encode_tiles(bytes, &tiles, |field, tile, scratch| {
                let run = Run::whole(tile.len());
                let encoded = target.fields[field].encode(&cells.fields[field].cells.slice(tile.clone()), run, scratch);
                encoded.map_err(|error| error.of_cell(|cell| number(tile.start - range.start + cell)))
            })?;
            Ok(EncodedWindow { tiles: encoded, lens: vec![tile_cells; tiles.len()] })
        };
        let encoded = next(target.array.workers(), encode, before, |before| output.write(before))?;
        self.hand_over(encoded)
    }

    fn append(&mut self, cells: &CheckedCells<'_>, kept: Option<&[u32]>, range: Range<usize>) {
        for ((field, pending), column) in self.target.fields.iter().zip(&mut self.pending).zip(&cells.fields) {
            match kept {
                None => pending.push(field, &column.cells.slice(range.clone())),
                Some(kept) => pending.push_some(field, &column.cells, &kept[range.clone()]),
            }
        }
        self.waiting += range.len();
        self.kept += range.len() as u64;
    }

    /// Encodes and writes the complete tiles. If `all` is `true`, writes all waiting cells.
    fn flush(&mut self, all: bool) -> Result<()> {
        let ready = self.waiting.saturating_sub(self.held_back);
        let cells = if all { self.waiting } else { ready / self.tile_cells * self.tile_cells };
        if cells == 0 {
            return Ok(());
        }
        let tile = |start: usize| start..cells.min(start + self.tile_cells);
        let tiles: Vec<Range<usize>> = (0..cells).step_by(self.tile_cells).map(tile).collect();
        let bytes: usize = self.pending.iter().map(Pending::memory).sum();
        let target = Arc::clone(&self.target);
        let number = self.numbers(self.kept - self.waiting as u64);
        let (before, pending, output) = (self.encoded.take(), &self.pending, &mut self.output);
        let encode = || {
            let encoded = target.encode_tiles(bytes as u64, &tiles, |field, tile, scratch| {
                let encoded = pending[field].encode(&target.fields[field], tile.clone(), scratch);
                encoded.map_err(|error| error.of_cell(|cell| number(tile.start + cell)))
            })?;
            Ok(EncodedWindow { tiles: encoded, lens: tiles.iter().map(Range::len).collect() })
        };
        let encoded = next(target.array.workers(), encode, before, |before| output.write(before))?;
        for (field, pending) in target.fields.iter().zip(&mut self.pending) {
            pending.drop_front(field, cells);
        }
        self.waiting -= cells;
        self.hand_over(encoded)
    }

    /// Returns a function from the index of a kept cell, counted from `first`, to its number in the
    /// input. The function returns `None` if duplicates were dropped, because the numbers then
    /// differ.
    fn numbers(&self, first: u64) -> impl Fn(usize) -> Option<u64> + Send + Sync + use<> {
        let has_dropped = self.has_dropped;
        move |cell| (!has_dropped).then_some(first + cell as u64)
    }

    /// Writes encoded tiles, or keeps them until the next tiles are encoded.
    fn hand_over(&mut self, encoded: EncodedWindow) -> Result<()> {
        if self.overlaps {
            self.encoded = Some(encoded);
            return Ok(());
        }
        self.output.write(encoded)
    }

    /// Writes the remaining cells and commits all fragments atomically. Before format 12, fragments
    /// are committed one by one. After a crash, only the first fragments may be committed.
    ///
    /// # Errors
    /// Cells of the ranges of a dense array are missing, the remaining cells cannot be encoded, the
    /// storage fails, or an earlier call failed. No cell is then committed, except for the first
    /// fragments before format 12.
    pub fn commit(mut self) -> Result<Written> {
        if self.failed {
            return Err(ArrayError::Write("the write has already failed; nothing was committed".to_owned()));
        }
        if let Some(slices) = &self.output.slices {
            check_count(&slices.region, u128::from(self.received))?;
        }
        self.flush(true)?;
        let Self { target, settings, encoded, mut output, kept, .. } = self;
        encoded.map_or(Ok(()), |last| output.write(last))?;
        commit(&target, output.finish()?, &settings.names, kept)
    }
}
