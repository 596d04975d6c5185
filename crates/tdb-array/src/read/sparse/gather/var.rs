//! Gathering cells of variable length.

use super::layout::BatchLayout;
use crate::column::ColumnBuffers;
use crate::read::BufferPool;
use crate::read::sparse::context::Context;
use crate::read::sparse::table::{Run, TileTable};
use crate::tiles::CellBuffers;
use crate::{ArrayError, Result};

/// Gathers the cells of all runs from the tiles.
pub(super) fn gather_var(
    context: &Context,
    tiles: &TileTable,
    layout: &BatchLayout<'_>,
    field: usize,
    pool: &mut BufferPool,
) -> Result<ColumnBuffers> {
    let value_size = context.fields[field].datatype.size();
    let sources = sources(context, tiles, layout, field, value_size)?;
    // The bytes of each piece, which say where the next one begins.
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
        Ok(())
    })?;
    Ok(ColumnBuffers { values, offsets: Some(offsets), validity: None })
}

/// For each slot the tile to gather from.
fn sources<'t>(
    context: &Context,
    tiles: &'t TileTable,
    layout: &BatchLayout<'_>,
    field: usize,
    value_size: usize,
) -> Result<Vec<Option<&'t CellBuffers>>> {
    let mut sources = vec![None; tiles.len()];
    for used in &layout.uses {
        let tile = tiles.get(used.slot);
        let data = &tile.fields[field].cells;
        if value_size > 1 && data.offsets.iter().any(|offset| !offset.is_multiple_of(value_size as u64)) {
            let folder = context.sources[tile.source].fragment.folder();
            return Err(ArrayError::Corrupt {
                file: folder.to_owned(),
                what: format!(
                    "tile {} of field {:?}: a cell's bytes are no whole number of values",
                    tile.tile, context.fields[field].name
                ),
            });
        }
        sources[used.slot as usize] = Some(data);
    }
    Ok(sources)
}

/// Where the bytes of a run lie in the tile's data.
#[inline]
fn data_range(run: &Run, tile: &CellBuffers) -> std::ops::Range<usize> {
    let (first, last) = (run.start as usize, run.start as usize + run.len as usize);
    // Checked when the tile was loaded: offsets ascend and end at the length of the data.
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
