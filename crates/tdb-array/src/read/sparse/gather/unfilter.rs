//! Unfiltering the tiles that a batch gathers from.

use super::layout::BatchLayout;
use super::spares::Spares;
use crate::read::sparse::cells::{TileData, fixed_len};
use crate::read::sparse::context::Context;
use crate::read::sparse::source::Source;
use crate::read::sparse::table::{Held, TileTable};
use crate::tiles::{TileScratch, VarTile};
use crate::{ArrayError, Result};
use tdb_types::Buffer;

/// Where a tile is unfiltered to.
enum Target<'a> {
    /// Its place in the column.
    Place(&'a mut [u8]),
    /// Memory of its own.
    Own(Buffer),
}

/// Unfilters cells of fixed size: tiles that belong into the column as they are right there, others into memory of their
/// own.
pub(super) fn unfilter_cells(
    context: &Context,
    tiles: &mut TileTable,
    layout: &BatchLayout<'_>,
    (field, size): (usize, usize),
    out: &mut [u8],
    spares: &mut Spares,
) -> Result<()> {
    let is_held = |held: &Held| held.cells.is_some();
    let fill = &context.fields[field].fill;
    let unfilter = |source: &Source, tile, out: &mut [u8], scratch: &mut TileScratch| match &source.fields[field] {
        Some(tiles) => tiles.fixed(tile, out, scratch),
        None => {
            out.chunks_exact_mut(fill.len().max(1)).for_each(|cell| cell.copy_from_slice(fill));
            Ok(())
        }
    };
    let own = unfilter_fixed(context, tiles, layout, (field, size), out, spares, is_held, unfilter)?;
    for (slot, buffer) in own {
        tiles.get_mut(slot).fields[field].cells = Some(TileData::Fixed(buffer));
    }
    Ok(())
}

/// Unfilters validity, one byte per cell, as [`unfilter_cells`] does cells.
pub(super) fn unfilter_validity(
    context: &Context,
    tiles: &mut TileTable,
    layout: &BatchLayout<'_>,
    field: usize,
    out: &mut [u8],
    spares: &mut Spares,
) -> Result<()> {
    let is_held = |held: &Held| held.validity.is_some();
    let fill = u8::from(context.fields[field].fill_valid);
    let unfilter = |source: &Source, tile, out: &mut [u8], scratch: &mut TileScratch| match &source.fields[field] {
        Some(tiles) => tiles.validity(tile, out, scratch),
        None => {
            out.fill(fill);
            Ok(())
        }
    };
    let own = unfilter_fixed(context, tiles, layout, (field, 1), out, spares, is_held, unfilter)?;
    for (slot, buffer) in own {
        tiles.get_mut(slot).fields[field].validity = Some(buffer);
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)] // the two functions above would otherwise be one long one twice
fn unfilter_fixed(
    context: &Context,
    tiles: &TileTable,
    layout: &BatchLayout<'_>,
    (field, size): (usize, usize),
    out: &mut [u8],
    spares: &mut Spares,
    is_held: impl Fn(&Held) -> bool,
    unfilter: impl Fn(&Source, u64, &mut [u8], &mut TileScratch) -> Result<()> + Send + Sync,
) -> Result<Vec<(u32, Buffer)>> {
    let mut jobs = Vec::with_capacity(layout.uses.len());
    let (mut rest, mut passed, mut bytes) = (out, 0, 0_u64);
    for used in &layout.uses {
        let tile = tiles.get(used.slot);
        if is_held(&tile.fields[field]) {
            continue;
        }
        let len = tile_len(context, tile.source, field, tile.cells, size)?;
        let target = if used.whole {
            let (_, from) = std::mem::take(&mut rest).split_at_mut(used.start * size - passed);
            let (place, after) = from.split_at_mut(len);
            (rest, passed) = (after, used.start * size + len);
            Target::Place(place)
        } else {
            Target::Own(spares.buffer(len))
        };
        bytes += len as u64;
        jobs.push((used.slot, tile.source, tile.tile, target));
    }
    let own = context.array.workers().map(bytes, jobs, |(slot, source, tile, target), scratch| {
        let source = &context.sources[source];
        match target {
            Target::Place(place) => unfilter(source, tile, place, scratch).map(|()| None),
            Target::Own(mut buffer) => {
                unfilter(source, tile, &mut buffer, scratch)?;
                Ok(Some((slot, buffer)))
            }
        }
    })?;
    Ok(own.into_iter().flatten().collect())
}

/// Unfilters cells of variable length.
pub(super) fn unfilter_var(
    context: &Context,
    tiles: &mut TileTable,
    layout: &BatchLayout<'_>,
    field: usize,
    spares: &mut Spares,
) -> Result<()> {
    let mut jobs = Vec::with_capacity(layout.uses.len());
    let mut bytes = 0_u64;
    for used in &layout.uses {
        let tile = tiles.get(used.slot);
        if tile.fields[field].cells.is_none() {
            bytes += tile_len(context, tile.source, field, tile.cells, size_of::<u64>())? as u64;
            jobs.push((used.slot, tile.source, tile.tile, tile.cells, spares.var()));
        }
    }
    let fill = &context.fields[field].fill;
    let own = context.array.workers().map(bytes, jobs, |(slot, source, tile, cells, mut out), scratch| {
        match &context.sources[source].fields[field] {
            Some(tiles) => tiles.var(tile, cells, &mut out, scratch)?,
            None => fill_var(fill, cells, &mut out),
        }
        Ok((slot, out))
    })?;
    for (slot, data) in own {
        tiles.get_mut(slot).fields[field].cells = Some(TileData::Var(data));
    }
    Ok(())
}

/// A tile of nothing but fill values.
fn fill_var(fill: &[u8], cells: usize, out: &mut VarTile) {
    out.offsets.clear();
    out.offsets.extend((0..=cells as u64).map(|cell| cell * fill.len() as u64));
    out.data.resize(cells * fill.len());
    out.data.chunks_exact_mut(fill.len().max(1)).for_each(|cell| cell.copy_from_slice(fill));
}

/// Bytes of an unfiltered tile, which must be within the limit.
fn tile_len(context: &Context, source: usize, field: usize, cells: usize, size: usize) -> Result<usize> {
    if let Some(tiles) = &context.sources[source].fields[field] {
        return fixed_len(tiles, cells, size);
    }
    let limit = context.array.limits().tile_bytes;
    let fill = context.fields[field].fill.len().max(size);
    cells.checked_mul(fill).filter(|len| *len as u64 <= limit).map(|_| cells * size).ok_or_else(|| {
        ArrayError::Unsupported {
            file: context.sources[source].fragment.folder().to_owned(),
            what: format!("tiles of {cells} cells are above the limit of {limit} bytes; raise the limit to read them"),
        }
    })
}
