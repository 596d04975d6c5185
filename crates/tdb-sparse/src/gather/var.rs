//! Gathering of variable-length cells.

use tdb_cells::{CellBuffers, ColumnBuffers};
use tdb_query::BufferPool;
use tdb_snapshot::{ArrayError, Result};
use tdb_types::Buffer;

use super::layout::{BatchLayout, Use};
use crate::context::Context;
use crate::table::{Run, TileTable};

/// Gathers the cells of all runs.
pub(super) fn gather_var(
    context: &Context,
    tiles: &TileTable,
    layout: &BatchLayout<'_>,
    field: usize,
    pool: &mut BufferPool,
) -> Result<ColumnBuffers> {
    let value_size = context.fields[field].datatype.size();
    let sources = sources(context, tiles, &layout.uses, field, value_size)?;
    // Sizes of the pieces in bytes, to determine the start of each piece.
    let lens: Vec<usize> =
        layout.pieces.iter().map(|(runs, _)| data_len(&layout.runs[runs.clone()], &sources)).collect();
    let total = lens.iter().sum();
    let mut values = pool.take(total);
    let mut offsets = pool.take((layout.cells + 1) * size_of::<u64>());
    let offset_values = offsets.values_mut::<u64>().unwrap_or_default();
    if let Some(last) = offset_values.last_mut() {
        *last = (total / value_size) as u64;
    }
    let mut jobs = Vec::with_capacity(layout.pieces.len());
    let (mut rest_values, mut rest_offsets, mut base) = (&mut values[..], offset_values, 0_u64);
    for ((runs, cells), len) in layout.pieces.iter().zip(lens) {
        let (piece_values, after) = std::mem::take(&mut rest_values).split_at_mut(len);
        rest_values = after;
        let (piece_offsets, after) = std::mem::take(&mut rest_offsets).split_at_mut(*cells);
        rest_offsets = after;
        jobs.push((&layout.runs[runs.clone()], base, piece_values, piece_offsets));
        base += len as u64;
    }
    let bytes = total as u64 + 8 * layout.cells as u64;
    context.array.workers().for_each(bytes, jobs, |(runs, base, values, offsets), _| {
        match value_size {
            1 => copy(runs, &sources, base, values, offsets, |bytes| bytes),
            size => copy(runs, &sources, base, values, offsets, |bytes| bytes / size as u64),
        }
        Ok::<_, ArrayError>(())
    })?;
    Ok(ColumnBuffers { values, offsets: Some(offsets), validity: None })
}

/// Variable-length cells from more tiles than fit into memory at once.
#[derive(Debug)]
pub(super) struct VarParts<'a> {
    runs: &'a [Run],
    field: usize,
    value_size: usize,
    /// Group of each tile, by slot.
    group_of_slot: Vec<u32>,
    /// Values of each group's cells, in batch order.
    groups: Vec<Vec<u8>>,
    /// Length of each cell in bytes. `finish` replaces the lengths with offsets in values.
    offsets: Buffer,
}

impl<'a> VarParts<'a> {
    pub(super) fn new(
        context: &Context,
        layout: &BatchLayout<'a>,
        field: usize,
        slots: usize,
        pool: &mut BufferPool,
    ) -> Self {
        let offsets = pool.take((layout.cells + 1) * size_of::<u64>());
        let value_size = context.fields[field].datatype.size();
        Self { runs: layout.runs, field, value_size, group_of_slot: vec![0; slots], groups: Vec::new(), offsets }
    }

    /// Adds the cells of the next group of tiles.
    pub(super) fn add(&mut self, context: &Context, tiles: &TileTable, uses: &[Use]) -> Result<()> {
        let sources = sources(context, tiles, uses, self.field, self.value_size)?;
        let number = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        uses.iter().for_each(|used| self.group_of_slot[used.slot as usize] = number);
        let mut values = Vec::with_capacity(data_len(self.runs, &sources));
        let mut rest = self.offsets.values_mut::<u64>().unwrap_or_default();
        for run in self.runs {
            let (lens, after) = std::mem::take(&mut rest).split_at_mut(run.len as usize);
            rest = after;
            let Some(tile) = sources[run.slot as usize] else { continue };
            values.extend_from_slice(&tile.values[data_range(run, tile)]);
            let offsets = &tile.offsets[run.start as usize..][..=run.len as usize];
            lens.iter_mut().zip(offsets.windows(2)).for_each(|(len, ends)| *len = ends[1] - ends[0]);
        }
        self.groups.push(values);
        Ok(())
    }

    /// Combines the cells of all groups.
    pub(super) fn finish(mut self, pool: &mut BufferPool) -> ColumnBuffers {
        let mut values = pool.take(self.groups.iter().map(Vec::len).sum());
        let mut lens = self.offsets.values_mut::<u64>().unwrap_or_default();
        let mut groups: Vec<&[u8]> = self.groups.iter().map(Vec::as_slice).collect();
        let (mut rest, mut position) = (&mut values[..], 0);
        for run in self.runs {
            let (cells, after) = std::mem::take(&mut lens).split_at_mut(run.len as usize);
            lens = after;
            let start = position;
            for cell in cells {
                let len = std::mem::replace(cell, position / self.value_size as u64);
                position += len;
            }
            let len = (position - start) as usize;
            let group = &mut groups[self.group_of_slot[run.slot as usize] as usize];
            let (from, left) = group.split_at(len);
            *group = left;
            let (to, after) = std::mem::take(&mut rest).split_at_mut(len);
            rest = after;
            to.copy_from_slice(from);
        }
        if let Some(last) = lens.first_mut() {
            *last = position / self.value_size as u64;
        }
        ColumnBuffers { values, offsets: Some(self.offsets), validity: None }
    }
}

/// Returns the tiles to gather from, by slot.
fn sources<'t>(
    context: &Context,
    tiles: &'t TileTable,
    uses: &[Use],
    field: usize,
    value_size: usize,
) -> Result<Vec<Option<&'t CellBuffers>>> {
    let mut sources = vec![None; tiles.len()];
    for used in uses {
        let tile = tiles.get(used.slot);
        let data = &tile.fields[field].cells;
        if value_size > 1 && data.offsets.iter().any(|offset| !offset.is_multiple_of(value_size as u64)) {
            let folder = context.sources[tile.source].fragment.folder();
            return Err(ArrayError::Corrupt {
                file: context.array.storage().describe(folder),
                what: format!(
                    "tile {} of field {:?}: the bytes of a cell are not a whole number of values",
                    tile.tile, context.fields[field].name
                ),
            });
        }
        sources[used.slot as usize] = Some(data);
    }
    Ok(sources)
}

/// Returns the range of a run's bytes within the tile's data.
#[inline]
fn data_range(run: &Run, tile: &CellBuffers) -> std::ops::Range<usize> {
    let (first, last) = (run.start as usize, run.start as usize + run.len as usize);
    // Unfiltering has validated that offsets ascend and end at the length of the data.
    tile.offsets[first] as usize..tile.offsets[last] as usize
}

fn data_len(runs: &[Run], sources: &[Option<&CellBuffers>]) -> usize {
    runs.iter().filter_map(|run| Some(data_range(run, sources[run.slot as usize]?).len())).sum()
}

fn copy(
    runs: &[Run],
    sources: &[Option<&CellBuffers>],
    base: u64,
    values: &mut [u8],
    offsets: &mut [u64],
    in_values: impl Fn(u64) -> u64,
) {
    let (mut values, mut offsets, mut position) = (values, offsets, base);
    for run in runs {
        let Some(tile) = sources[run.slot as usize] else { continue };
        let range = data_range(run, tile);
        let len = range.len();
        let (to, after) = std::mem::take(&mut values).split_at_mut(len);
        to.copy_from_slice(&tile.values[range.clone()]);
        values = after;
        let starts = &tile.offsets[run.start as usize..][..run.len as usize];
        let (to, after) = std::mem::take(&mut offsets).split_at_mut(starts.len());
        let shift = position.wrapping_sub(range.start as u64);
        for (to, start) in to.iter_mut().zip(starts) {
            *to = in_values(start.wrapping_add(shift));
        }
        offsets = after;
        position += len as u64;
    }
}
