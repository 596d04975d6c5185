//! Writing of the cells of a region of a dense array.

mod slabs;

use std::ops::Range;
use std::sync::Arc;

use tdb_cells::{CellBuffers, Order, WriteBatch};
use tdb_fragment::DenseGrid;
use tdb_rtree::NdRange;
use tdb_snapshot::{ArrayError, Result};
use tdb_types::{Cells, Layout, Validity, saturating_len};

use crate::check::{CheckedCells, CheckedColumn, check};
use crate::encoder::{EncodedTile, FieldEncoder};
use crate::fragment::FragmentWriter;
use crate::promises::Promises;
use crate::region::check_count;
use crate::stream::GlobalWriter;
use crate::target::Target;
use crate::windows::{EncodedWindow, append_all};
use crate::{SealedFragment, Settings, Written, commit};
use slabs::{Slab, TileSlabs};

/// Writes the cells of a region as one fragment.
pub(super) fn write(
    target: &Arc<Target>,
    settings: &Settings,
    region: NdRange,
    order: Order,
    cells: &WriteBatch<'_>,
) -> Result<Written> {
    let layout = match order {
        Order::RowMajor => Layout::RowMajor,
        Order::ColMajor => Layout::ColMajor,
        Order::Global => {
            let mut writer = GlobalWriter::new(Arc::clone(target), settings.clone(), region, None)?;
            writer.push(cells)?;
            return writer.commit();
        }
        Order::Unordered => {
            let what = "missing order for the cells of a dense array; choose row-major, col-major or global";
            return Err(ArrayError::Write(what.to_owned()));
        }
    };
    let (fragment, count) = seal(target, settings, region, layout, cells, 0)?;
    commit(target, vec![fragment], &settings.names, count)
}

/// Writes the cells of a region as one uncommitted fragment. Also returns the number of cells.
/// Error messages number the cells from `first`.
pub(super) fn seal(
    target: &Arc<Target>,
    settings: &Settings,
    region: NdRange,
    layout: Layout,
    cells: &WriteBatch<'_>,
    first: u64,
) -> Result<(SealedFragment, u64)> {
    let cells = check(&target.schema, cells, first, settings.any_utf8)?;
    Promises::default().follow(&target.schema, &cells, first)?;
    check_count(&region, cells.len as u128)?;
    let grid = target.dense_grid(&region)?;
    let mut writer = FragmentWriter::dense(target, &settings.names, region)?;
    let slabs = TileSlabs::new(&target.schema, &grid, layout);
    let tile_cells = saturating_len(grid.cells_per_tile());
    let window = settings.window(target, &cells, tile_cells);
    let ends = |start: u64| start..grid.tile_count().min(start + window.tiles as u64);
    let parts = (0..grid.tile_count()).step_by(window.tiles).map(ends);
    append_all(target, &mut writer, (window, parts), |part| {
        let lens = vec![tile_cells; saturating_len(part.end - part.start)];
        Ok(EncodedWindow { tiles: encode(target, &cells, &slabs, &grid, part, Some(first))?, lens })
    })?;
    Ok((writer.seal()?, cells.len as u64))
}

/// Encodes all tiles that intersect a box. `cells` holds the cells of the box for each field, in
/// the array's cell order. Returns the tiles of each field, and the number of cells per tile.
///
/// # Errors
/// The array is sparse, the box is not within the domain, the number of cells does not match the
/// box, a tile exceeds the limit, a filter cannot store a value, or random bytes are not available.
pub fn encode_box(target: &Target, region: &NdRange, cells: &[Cells<'_>]) -> Result<(Vec<Vec<EncodedTile>>, usize)> {
    let grid = target.dense_grid(region)?;
    let len = cells.first().map_or(0, Cells::len);
    check_count(region, len as u128)?;
    let fields = target.fields.iter().zip(cells);
    let fields = fields.map(|(field, cells)| CheckedColumn { field: field.field, cells: *cells }).collect();
    let slabs = TileSlabs::new(&target.schema, &grid, target.schema.cell_order());
    let encoded = encode(target, &CheckedCells { len, fields }, &slabs, &grid, 0..grid.tile_count(), None)?;
    Ok((encoded, saturating_len(grid.cells_per_tile())))
}

/// Encodes a range of tiles for each field. Error messages number the cells from `first`, or name
/// no cell if `first` is `None`.
fn encode(
    target: &Target,
    cells: &CheckedCells<'_>,
    slabs: &TileSlabs,
    grid: &DenseGrid,
    tiles: Range<u64>,
    first: Option<u64>,
) -> Result<Vec<Vec<EncodedTile>>> {
    let tiles: Vec<u64> = tiles.collect();
    let cells_of_tiles = (tiles.len() as u64).saturating_mul(grid.cells_per_tile());
    let tile_cells = saturating_len(grid.cells_per_tile());
    let bytes = cells_of_tiles.saturating_mul(target.cell_size() as u64);
    target.encode_tiles(bytes, &tiles, |field, tile, scratch| {
        let slabs = slabs.of_tile(*tile);
        let encoder = &target.fields[field];
        let mut part = std::mem::take(&mut scratch.cells);
        cut(encoder, &cells.fields[field].cells, &slabs, tile_cells, &mut part);
        let encoded = encoder.encode(&part.cells(encoder.size), slabs.iter().flat_map(Slab::runs), scratch);
        scratch.cells = part;
        encoded.map_err(|error| {
            error.of_cell(|cell| {
                let (_, source) = slabs.iter().flat_map(Slab::cells).find(|(place, _)| *place == cell)?;
                first.map(|first| first + source as u64)
            })
        })
    })
}

/// Copies the cells of a tile. Cells outside of the region become padding that readers never see.
fn cut(encoder: &FieldEncoder, region: &Cells<'_>, slabs: &[Slab], cells: usize, tile: &mut CellBuffers) {
    tile.clear();
    // If the region covers the whole tile, every byte is overwritten.
    let is_whole = slabs.iter().map(Slab::len).sum::<usize>() == cells;
    match region.offsets() {
        None => {
            let values = tile.values.append(cells * encoder.size);
            if !is_whole {
                pad(values, &encoder.padding);
            }
            slabs.iter().for_each(|slab| slab.copy(region.values(), values, encoder.size));
        }
        Some(_) => cut_var(region, encoder, slabs, cells, tile),
    }
    if encoder.nullable {
        let bytes = tile.validity.append(cells);
        if !is_whole {
            bytes.fill(0);
        }
        slabs.iter().for_each(|slab| cut_validity(region.validity(), slab, bytes));
    }
}

fn cut_validity(validity: Option<Validity<'_>>, slab: &Slab, bytes: &mut [u8]) {
    let (first, step) = slab.place();
    match validity {
        _ if slab.len() == 0 => {}
        Some(validity) if slab.is_contiguous() => {
            let (first, region) = slab.run();
            validity.slice(region.clone()).write_bytes(&mut bytes[first..][..region.len()]);
        }
        Some(validity) => slab.cells().for_each(|(cell, source)| bytes[cell] = validity.is_valid(source).into()),
        None => bytes[first..].iter_mut().step_by(step).take(slab.len()).for_each(|byte| *byte = 1),
    }
}

/// Fills memory with repetitions of `padding`.
fn pad(values: &mut [u8], padding: &[u8]) {
    match padding {
        [first, rest @ ..] if rest.iter().all(|byte| byte == first) => values.fill(*first),
        [] => {}
        padding => values.chunks_mut(padding.len()).for_each(|cell| cell.copy_from_slice(&padding[..cell.len()])),
    }
}

/// Copies variable-length cells.
fn cut_var(region: &Cells<'_>, encoder: &FieldEncoder, slabs: &[Slab], cells: usize, tile: &mut CellBuffers) {
    if slabs.iter().all(Slab::is_contiguous) {
        return cut_runs(region, &encoder.padding, slabs, cells, tile);
    }
    let mut sources = vec![usize::MAX; cells];
    for slab in slabs {
        slab.cells().for_each(|(cell, source)| sources[cell] = source);
    }
    tile.push_strings(sources.iter().map(|source| match *source {
        usize::MAX => &encoder.padding[..],
        source => region.cell(source),
    }));
}

/// Copies variable-length cells in runs that are consecutive in both tile and region.
fn cut_runs(region: &Cells<'_>, padding: &[u8], slabs: &[Slab], cells: usize, tile: &mut CellBuffers) {
    let mut runs: Vec<(usize, Range<usize>)> = slabs.iter().map(Slab::run).collect();
    runs.sort_unstable_by_key(|(cell, _)| *cell);
    let bytes = runs.iter().filter_map(|(_, source)| region.offsets()?.slice(source.clone()).bytes());
    tile.values.reserve(bytes.map(|bytes| bytes.len()).sum());
    tile.offsets.reserve(cells + 1);
    let mut next = 0;
    tile.start_offsets();
    for (cell, source) in runs.into_iter().chain([(cells, 0..0)]) {
        for _ in next..cell {
            tile.values.extend_from_slice(padding);
            tile.offsets.push(tile.values.len() as u64);
        }
        next = cell + source.len();
        tile.push(&region.slice(source), false);
    }
}
