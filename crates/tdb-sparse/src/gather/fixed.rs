//! Gathering of fixed-size cells.

use tdb_snapshot::Result;

use super::layout::{BatchLayout, Use};
use crate::context::Context;
use crate::table::Run;

/// Copies the runs of the tiles in `uses` into `out`. `sources[slot]` holds the cells of a tile, or
/// is empty if the cells are already in `out`.
pub(super) fn gather_fixed(
    context: &Context,
    (layout, uses): (&BatchLayout<'_>, &[Use]),
    sources: &[&[u8]],
    size: usize,
    out: &mut [u8],
) -> Result<()> {
    if uses.iter().all(|used| sources[used.slot as usize].is_empty()) {
        return Ok(());
    }
    let mut rest = out;
    let mut jobs = Vec::with_capacity(layout.pieces.len());
    for (runs, cells) in &layout.pieces {
        let (piece, after) = std::mem::take(&mut rest).split_at_mut(cells * size);
        rest = after;
        jobs.push((&layout.runs[runs.clone()], piece));
    }
    let bytes = layout.cells as u64 * size as u64;
    context.array.workers().for_each(bytes, jobs, |(runs, piece), _| {
        match size {
            1 => copy::<1>(runs, sources, piece),
            2 => copy::<2>(runs, sources, piece),
            4 => copy::<4>(runs, sources, piece),
            8 => copy::<8>(runs, sources, piece),
            12 => copy::<12>(runs, sources, piece),
            16 => copy::<16>(runs, sources, piece),
            _ => copy_any(runs, sources, size, piece),
        }
        Ok(())
    })
}

fn copy<const N: usize>(runs: &[Run], sources: &[&[u8]], out: &mut [u8]) {
    let sources: Vec<&[[u8; N]]> = sources.iter().map(|source| source.as_chunks().0).collect();
    let mut rest = out.as_chunks_mut().0;
    for run in runs {
        let (start, len) = (run.start as usize, run.len as usize);
        let source = sources[run.slot as usize];
        let (to, after) = std::mem::take(&mut rest).split_at_mut(len);
        rest = after;
        match (to, source.get(start..start + len)) {
            // For 1 or 2 cells, a call of a copy function costs more than the copy.
            ([to], Some([cell])) => *to = *cell,
            ([to, next], Some([cell, second])) => (*to, *next) = (*cell, *second),
            (to, Some(cells)) => to.copy_from_slice(cells),
            (_, None) => {}
        }
    }
}

fn copy_any(runs: &[Run], sources: &[&[u8]], size: usize, out: &mut [u8]) {
    let mut rest = out;
    for run in runs {
        let (start, len) = (run.start as usize * size, run.len as usize * size);
        let (to, after) = std::mem::take(&mut rest).split_at_mut(len);
        if let Some(cells) = sources[run.slot as usize].get(start..start + len) {
            to.copy_from_slice(cells);
        }
        rest = after;
    }
}
