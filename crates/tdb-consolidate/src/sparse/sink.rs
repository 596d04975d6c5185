//! Output of picked cells as tiles of new fragments.

use std::ops::Range;
use std::sync::Arc;

use tdb_cells::CellBuffers;
use tdb_cells::order::key::Key;
use tdb_snapshot::{ArrayError, Result};
use tdb_types::saturating_len;
use tdb_write::{EncodedTile, FragmentWriter, Run, SealedFragment, Target, WriteIds};

use super::columns::Column;
use super::gather::{append, append_fixed, fill_of, reserve};
use super::picked::{Pick, Picked};
use super::tile::Loaded;
use crate::join::TileCounts;

/// Properties of the new fragments.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) target: Arc<Target>,
    pub(super) names: WriteIds,
    /// `true` if cells have timestamps.
    pub(super) times: bool,
    /// `true` if cells have the time and condition of their deletion.
    pub(super) deletes: bool,
    /// Paths of the conditions that were applied.
    pub(super) conditions: Vec<String>,
    pub(super) budget: usize,
    pub(super) max_fragment_size: Option<u64>,
}

/// Number of cells that justifies a visit of all open tiles.
const FEW_CELLS: usize = 1 << 16;

/// A writer of cells in order.
pub(super) struct Sink<'a> {
    output: &'a Output,
    /// Cells per tile.
    capacity: usize,
    /// Fill value of each field.
    fills: Vec<CellBuffers>,
    /// Cells that wait for a complete tile.
    pending: Vec<CellBuffers>,
    waiting: usize,
    writer: Option<FragmentWriter>,
    sealed: Vec<SealedFragment>,
    pub(super) cells: u64,
    pub(super) tiles: TileCounts,
}

/// Consecutive picks of the same kind.
#[derive(Debug)]
struct Stretch {
    picks: Range<usize>,
    /// `true` if each pick is a whole stored tile that becomes a tile of the new fragment.
    is_whole: bool,
}

impl<'a> Sink<'a> {
    pub(super) fn new(output: &'a Output) -> Self {
        let schema = &output.target.schema;
        Self {
            output,
            capacity: saturating_len(schema.capacity()).max(1),
            fills: output.target.fields.iter().map(|field| fill_of(schema, field)).collect(),
            pending: output.target.fields.iter().map(|_| CellBuffers::default()).collect(),
            waiting: 0,
            writer: None,
            sealed: Vec::new(),
            cells: 0,
            tiles: TileCounts::default(),
        }
    }

    /// Returns the number of cells to pick at a time.
    pub(super) fn window(&self) -> usize {
        let threads = self.output.target.array.workers().threads();
        // In addition to the original tiles, the copied cells are in memory unfiltered and
        // filtered.
        let tile = self.output.target.cell_size().saturating_mul(self.capacity).saturating_mul(2).max(1);
        let enough = threads.saturating_mul(4).max(FEW_CELLS / self.capacity).max(1);
        let tiles = (self.output.budget / 8 / tile).clamp(1, enough);
        tiles.saturating_mul(self.capacity)
    }

    /// Writes the picked cells that fill complete tiles. If `all` is `true`, also writes the
    /// remaining cells.
    pub(super) fn take<K: Key>(&mut self, picked: &Picked<'_, K>, all: bool) -> Result<()> {
        let stretches = self.stretches(picked, all);
        let all_fields = self.output.target.fields.len();
        picked.load_missing(all_fields, stretches.iter().map(|stretch| (stretch.picks.clone(), stretch.is_whole)))?;
        for Stretch { picks, is_whole } in stretches {
            let picks = &picked.picks[picks];
            match is_whole {
                true => self.take_tiles(picked, picks)?,
                false => self.gather(picked, picks)?,
            }
        }
        self.flush(all)
    }

    /// Divides the picks into stretches. A pick is whole if its tile has the right size and
    /// position for a tile of the new fragment.
    fn stretches<K: Key>(&self, picked: &Picked<'_, K>, all: bool) -> Vec<Stretch> {
        let picks = &picked.picks;
        let mut stretches: Vec<Stretch> = Vec::new();
        let mut waiting = self.waiting;
        for (number, pick) in picks.iter().enumerate() {
            let is_last = all && number + 1 == picks.len();
            let is_tile = |cells: usize| cells == self.capacity || is_last && cells < self.capacity;
            let is_whole = waiting.is_multiple_of(self.capacity) && picked.whole_tile(pick).is_some_and(is_tile);
            waiting += pick.len();
            match stretches.last_mut() {
                Some(last) if last.is_whole == is_whole => last.picks.end = number + 1,
                _ => stretches.push(Stretch { picks: number..number + 1, is_whole }),
            }
        }
        stretches
    }

    /// Writes whole tiles. Copies fields in filtered form where possible.
    fn take_tiles<K: Key>(&mut self, picked: &Picked<'_, K>, picks: &[Pick]) -> Result<()> {
        self.flush(false)?;
        let target = &self.output.target;
        let tiles: Vec<&Loaded<K>> = picks.iter().filter_map(|pick| picked.tile_of(pick)).collect();
        let lens: Vec<usize> = tiles.iter().map(|tile| tile.columns.cells).collect();
        let cells: usize = lens.iter().sum();
        let bytes = cells.saturating_mul(target.cell_size()) as u64;
        let copied = |tile: &&Loaded<K>| {
            let source = &picked.sources()[tile.source];
            (0..target.fields.len()).filter(|field| source.copied(*field).is_some()).count() as u64
        };
        self.tiles.copied += tiles.iter().map(copied).sum::<u64>();
        let encoded = target.encode_tiles(bytes, &tiles, |field, tile, scratch| {
            let source = &picked.sources()[tile.source];
            let (encoder, column) = (&target.fields[field], source.column(field, &tile.columns));
            let cells = tile.columns.cells;
            if let Some(copied) = source.copied(field) {
                let coordinates = match column {
                    Column::Cells(cells) if encoder.is_dimension() => Some(cells.cells(encoder.size)),
                    _ => None,
                };
                return copied.tile(encoder, (tile.tile, cells as u64), coordinates.as_ref(), scratch);
            }
            let mut whole = std::mem::take(&mut scratch.cells);
            whole.clear();
            reserve(encoder, cells, &mut whole);
            append(encoder, column, 0..cells, &self.fills[field], &mut whole);
            let encoded = encoder.encode(&whole.cells(encoder.size), Run::whole(cells), scratch);
            scratch.cells = whole;
            encoded
        })?;
        self.cells += cells as u64;
        self.write(encoded, &lens)
    }

    /// Appends picked cells to the waiting cells.
    fn gather<K: Key>(&mut self, picked: &Picked<'_, K>, picks: &[Pick]) -> Result<()> {
        let cells: usize = picks.iter().map(Pick::len).sum();
        let target = &self.output.target;
        let bytes = cells.saturating_mul(target.cell_size()) as u64;
        let fills = &self.fills;
        let jobs: Vec<(usize, &mut CellBuffers)> = self.pending.iter_mut().enumerate().collect();
        target.array.workers().for_each(bytes, jobs, |(field, to), _| {
            let encoder = &target.fields[field];
            reserve(encoder, cells, to);
            let columns = picked.columns(field);
            let fill = &fills[field];
            if encoder.is_var() || encoder.nullable {
                picks.iter().for_each(|pick| append(encoder, columns[pick.slot()], pick.cells(), fill, to));
            } else {
                append_fixed((encoder.size, &columns, fill), picks, to.values.append(cells * encoder.size));
            }
            Ok::<_, ArrayError>(())
        })?;
        self.waiting += cells;
        self.cells += cells as u64;
        Ok(())
    }

    fn flush(&mut self, all: bool) -> Result<()> {
        let cells = if all { self.waiting } else { self.waiting / self.capacity * self.capacity };
        if cells == 0 {
            return Ok(());
        }
        let target = &self.output.target;
        let tile = |start: usize| start..cells.min(start + self.capacity);
        let tiles: Vec<Range<usize>> = (0..cells).step_by(self.capacity).map(tile).collect();
        let bytes: usize = self.pending.iter().map(CellBuffers::len_in_bytes).sum();
        let pending = &self.pending;
        let encoded = target.encode_tiles(bytes as u64, &tiles, |field, tile, scratch| {
            let encoder = &target.fields[field];
            let cells = pending[field].cells(encoder.size).slice(tile.clone());
            encoder.encode(&cells, Run::whole(tile.len()), scratch)
        })?;
        for (field, pending) in target.fields.iter().zip(&mut self.pending) {
            pending.drop_front(cells, field.size);
        }
        self.waiting -= cells;
        let lens: Vec<usize> = tiles.iter().map(Range::len).collect();
        self.write(encoded, &lens)
    }

    /// Writes tiles to as many fragments as necessary.
    fn write(&mut self, mut tiles: Vec<Vec<EncodedTile>>, lens: &[usize]) -> Result<()> {
        self.tiles.written += tiles.iter().map(Vec::len).sum::<usize>() as u64;
        let size_of = |tile: usize| tiles.iter().map(|field| field[tile].size()).sum::<u64>();
        let sizes: Vec<u64> = (0..lens.len()).map(size_of).collect();
        let max = self.output.max_fragment_size.unwrap_or(u64::MAX);
        let mut start = 0;
        while start < lens.len() {
            let mut size = self.writer.as_ref().map_or(0, FragmentWriter::data_size);
            if size > 0 && size.saturating_add(sizes[start]) > max {
                self.seal()?;
                size = 0;
            }
            let mut end = start;
            while end < sizes.len() && (end == start || size.saturating_add(sizes[end]) <= max) {
                size = size.saturating_add(sizes[end]);
                end += 1;
            }
            let some = tiles.iter_mut().map(|field| field.drain(..end - start).collect()).collect();
            self.writer()?.append(some, &lens[start..end])?;
            start = end;
        }
        Ok(())
    }

    fn writer(&mut self) -> Result<&mut FragmentWriter> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => {
                let Output { target, names, times, deletes, conditions, .. } = self.output;
                FragmentWriter::joined(target, names, (*times, *deletes), conditions.clone())?
            }
        };
        Ok(self.writer.insert(writer))
    }

    fn seal(&mut self) -> Result<()> {
        if let Some(writer) = self.writer.take() {
            self.sealed.push(writer.seal()?);
        }
        Ok(())
    }

    /// Returns the written fragments.
    pub(super) fn finish(mut self) -> Result<Vec<SealedFragment>> {
        self.seal()?;
        Ok(self.sealed)
    }
}
