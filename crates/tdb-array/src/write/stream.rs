//! Cells in the order in which an array stores them, in batches of any size.

mod pending;
mod sequence;
mod slices;

use std::ops::Range;
use std::sync::Arc;

use tdb_rtree::NdRange;
use tdb_types::saturating_len;

use super::check::{CheckedCells, check};
use super::coordinates::coordinates;
use super::encoder::{EncodedTile, Run};
use super::fragment::FragmentWriter;
use super::promises::Promises;
use super::region::{cells_in, check_count};
use super::target::Target;
use super::{Duplicates, NewCells, SealedFragment, Settings, Written, commit};
use crate::{ArrayError, Result};
use pending::Pending;
use sequence::{Kept, Sequence};
use slices::Slices;

/// A write in global order, made by [`Write::global_order`](super::Write::global_order): batches of any size in, one
/// fragment out, or several of a bounded size. No more is held in memory than fills the budget.
///
/// Nothing becomes visible before [`commit`](Self::commit), and nothing at all if this is dropped before.
#[derive(Debug)]
pub struct GlobalWriter {
    target: Arc<Target>,
    settings: Settings,
    shape: Shape,
    tile_cells: usize,
    /// How many cells to gather before they are filtered: whole tiles.
    window: usize,
    promises: Promises,
    max_fragment_size: Option<u64>,
    /// How many cells always stay until all are there: one, if the next may take its place.
    held_back: usize,
    pending: Vec<Pending>,
    /// Cells that wait.
    waiting: usize,
    /// Cells that were given.
    received: u64,
    /// Cells that stay.
    kept: u64,
    writer: Option<FragmentWriter>,
    sealed: Vec<SealedFragment>,
    /// After an error nothing more is taken.
    failed: bool,
}

/// How it is decided where cells belong.
#[derive(Debug)]
enum Shape {
    Sparse(Box<Sequence>),
    Dense(Box<Slices>),
}

impl GlobalWriter {
    pub(super) fn new(
        target: Arc<Target>,
        settings: Settings,
        region: NdRange,
        max_fragment_size: Option<u64>,
    ) -> Result<Self> {
        let schema = &target.schema;
        let (shape, tile_cells) = if schema.is_dense() {
            let cells = schema.cells_per_tile().map_err(|error| ArrayError::Write(error.to_string()))?;
            (Shape::Dense(Box::new(Slices::new(&target, region)?)), cells)
        } else {
            let duplicates = settings.duplicates(schema);
            (Shape::Sparse(Box::new(Sequence::new(schema, duplicates)?)), schema.capacity())
        };
        let held_back = usize::from(!schema.is_dense() && settings.duplicates(schema) == Duplicates::KeepLast);
        let tile_cells = saturating_len(tile_cells);
        let window = settings.window_of(&target, target.cell_size(), tile_cells).saturating_mul(tile_cells);
        let pending = target.fields.iter().map(|_| Pending::default()).collect();
        Ok(Self {
            target,
            settings,
            shape,
            tile_cells,
            window,
            promises: Promises::default(),
            max_fragment_size,
            held_back,
            pending,
            waiting: 0,
            received: 0,
            kept: 0,
            writer: None,
            sealed: Vec::new(),
            failed: false,
        })
    }

    /// Takes the next cells.
    ///
    /// # Errors
    /// Columns or cells that the array can't have, or that come out of order; cells are counted from the first batch on.
    /// Whatever the storage can't do. After an error nothing more is taken, and nothing is committed.
    pub fn push<'a>(&mut self, cells: impl Into<NewCells<'a>>) -> Result<()> {
        if self.failed {
            return Err(ArrayError::Write("the write has failed before; begin a new one".to_owned()));
        }
        let result = self.take(&cells.into());
        self.failed = result.is_err();
        result
    }

    fn take(&mut self, cells: &NewCells<'_>) -> Result<()> {
        let target = Arc::clone(&self.target);
        let cells = check(&target.schema, cells, self.received, self.settings.any_utf8)?;
        if cells.len == 0 {
            // Without cells there is no range of coordinates, and nothing to keep an order.
            return Ok(());
        }
        self.promises.follow(&target.schema, &cells, self.received)?;
        let kept = match &mut self.shape {
            Shape::Sparse(sequence) => {
                let (columns, _) = coordinates(&target.schema, &cells, self.received)?;
                sequence.follow(&target.schema, &columns, cells.len, self.received)?
            }
            Shape::Dense(slices) => {
                let given = u128::from(self.received) + cells.len as u128;
                if given > cells_in(&slices.region) {
                    check_count(&slices.region, given)?;
                }
                Kept::default()
            }
        };
        self.received += cells.len as u64;
        if kept.replaces_last {
            self.target.fields.iter().zip(&mut self.pending).for_each(|(field, pending)| pending.pop(field));
            self.waiting -= 1;
            self.kept -= 1;
        }
        let count = kept.cells.as_ref().map_or(cells.len, Vec::len);
        let mut done = 0;
        while done < count {
            let left = count - done;
            if kept.cells.is_none() && self.waiting == 0 && left >= self.tile_cells + self.held_back {
                // Whole tiles need not wait.
                let tiles = (left - self.held_back).min(self.window) / self.tile_cells;
                self.write_column_tiles(&cells, done..done + tiles * self.tile_cells)?;
                done += tiles * self.tile_cells;
                continue;
            }
            let completing = self.tile_cells - self.waiting % self.tile_cells;
            // If whole tiles follow, those that wait go first.
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

    /// How many cells there is room for; at least one.
    fn room(&self) -> usize {
        (self.window + self.held_back).saturating_sub(self.waiting).max(1)
    }

    fn is_full(&self) -> bool {
        // Cells that differ in length may be larger than was thought.
        let memory: usize = self.pending.iter().map(Pending::memory).sum();
        let whole = self.waiting >= self.tile_cells + self.held_back;
        whole && (self.waiting >= self.window + self.held_back || memory > self.settings.budget())
    }

    /// Filters and writes tiles as they lie in columns.
    fn write_column_tiles(&mut self, cells: &CheckedCells<'_>, range: Range<usize>) -> Result<()> {
        let tile_cells = self.tile_cells;
        let tiles: Vec<Range<usize>> =
            range.clone().step_by(tile_cells).map(|start| start..start + tile_cells).collect();
        let bytes = range.len().saturating_mul(self.target.cell_size()) as u64;
        let fields = &self.target.fields;
        let encoded = self.target.encode_tiles(bytes, &tiles, |field, tile, scratch| {
            let run = Run::whole(tile.len());
            fields[field].encode(&cells.fields[field].cells.slice(tile.clone()), run, scratch)
        })?;
        self.kept += range.len() as u64;
        self.write(encoded, &vec![tile_cells; tiles.len()])
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

    /// Filters and writes whole tiles.
    fn flush(&mut self, all: bool) -> Result<()> {
        let ready = self.waiting.saturating_sub(self.held_back);
        let cells = if all { self.waiting } else { ready / self.tile_cells * self.tile_cells };
        if cells == 0 {
            return Ok(());
        }
        let tile = |start: usize| start..cells.min(start + self.tile_cells);
        let tiles: Vec<Range<usize>> = (0..cells).step_by(self.tile_cells).map(tile).collect();
        let bytes: usize = self.pending.iter().map(Pending::memory).sum();
        let (pending, fields) = (&self.pending, &self.target.fields);
        let encoded = self.target.encode_tiles(bytes as u64, &tiles, |field, tile, scratch| {
            pending[field].encode(&fields[field], tile.clone(), scratch)
        })?;
        let lens: Vec<usize> = tiles.iter().map(Range::len).collect();
        for (field, pending) in self.target.fields.iter().zip(&mut self.pending) {
            pending.drop_front(field, cells);
        }
        self.waiting -= cells;
        self.write(encoded, &lens)
    }

    /// Writes tiles, to as many fragments as it takes.
    fn write(&mut self, mut tiles: Vec<Vec<EncodedTile>>, lens: &[usize]) -> Result<()> {
        let sizes: Vec<u64> = (0..lens.len()).map(|tile| tiles.iter().map(|field| field[tile].size()).sum()).collect();
        let mut start = 0;
        while start < lens.len() {
            let end = self.end_of_fragment(&sizes, start)?;
            let some = tiles.iter_mut().map(|field| field.drain(..end - start).collect()).collect();
            self.writer()?.append(some, &lens[start..end])?;
            if let Shape::Dense(slices) = &mut self.shape {
                slices.written += (end - start) as u64;
            }
            start = end;
        }
        Ok(())
    }

    /// Which of the tiles from `start` on still belong to the current fragment: at least one, since a full fragment is
    /// ended here.
    fn end_of_fragment(&mut self, sizes: &[u64], start: usize) -> Result<usize> {
        let Some(max) = self.max_fragment_size else { return Ok(sizes.len()) };
        let mut size = self.writer.as_ref().map_or(0, FragmentWriter::data_size);
        if let Shape::Dense(slices) = &mut self.shape {
            if slices.written.is_multiple_of(slices.tiles) {
                // The next slice will be about as large as the last.
                let last = size - slices.size_before.min(size);
                if size > 0 && size + last > max {
                    self.end_fragment()?;
                    size = 0;
                }
                if let Shape::Dense(slices) = &mut self.shape {
                    slices.size_before = size;
                }
            }
            let Shape::Dense(slices) = &self.shape else { return Ok(sizes.len()) };
            let left = slices.tiles - slices.written % slices.tiles;
            return Ok(sizes.len().min(start + saturating_len(left)));
        }
        if size > 0 && size + sizes[start] > max {
            self.end_fragment()?;
            size = 0;
        }
        let mut end = start;
        while end < sizes.len() && (end == start || size + sizes[end] <= max) {
            size += sizes[end];
            end += 1;
        }
        Ok(end)
    }

    fn writer(&mut self) -> Result<&mut FragmentWriter> {
        if self.writer.is_none() {
            self.writer = Some(match &self.shape {
                Shape::Sparse(_) => FragmentWriter::sparse(&self.target, &self.settings.names)?,
                Shape::Dense(slices) => {
                    FragmentWriter::dense(&self.target, &self.settings.names, slices.region.clone())?
                }
            });
        }
        self.writer.as_mut().ok_or_else(|| ArrayError::Write("no fragment".to_owned()))
    }

    fn end_fragment(&mut self) -> Result<()> {
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        if let Shape::Dense(slices) = &mut self.shape {
            writer = writer.with_domain(slices.end(&self.target))?;
        }
        self.sealed.push(writer.seal()?);
        Ok(())
    }

    /// Writes what is left, and makes all of it part of the array at once.
    ///
    /// # Errors
    /// Cells of a dense region are missing; whatever the storage can't do; an earlier error. Nothing is then committed.
    pub fn commit(mut self) -> Result<Written> {
        if self.failed {
            return Err(ArrayError::Write("the write has failed before; nothing is committed".to_owned()));
        }
        if let Shape::Dense(slices) = &self.shape {
            check_count(&slices.region, u128::from(self.received))?;
        }
        self.flush(true)?;
        self.end_fragment()?;
        commit(&self.target, std::mem::take(&mut self.sealed), &self.settings.names, self.kept)
    }
}
