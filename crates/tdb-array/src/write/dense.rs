//! Cells of a part of a dense array, row by row or column by column: cut into tiles, written.

mod slabs;

use std::ops::Range;
use std::sync::Arc;

use bitvec::order::Lsb0;
use bitvec::view::BitView;
use tdb_fragment::{DenseGrid, Tiles};
use tdb_rtree::NdRange;
use tdb_types::{Layout, saturating_len};

use super::check::{CheckedCells, CheckedColumn, check};
use super::fragment::FragmentWriter;
use super::promises::Promises;
use super::region::check_count;
use super::stream::GlobalWriter;
use super::target::{EncodedTile, Target};
use super::{NewCells, Settings, Written, commit};
use crate::tiles::RawTile;
use crate::{ArrayError, Order, Result};
use slabs::{Slab, TileSlabs};

/// Writes the cells of a region, given in an order, as one fragment.
pub(super) fn write(
    target: &Arc<Target>,
    settings: &Settings,
    region: NdRange,
    order: Order,
    cells: &NewCells<'_>,
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
            let what = "the cells of a dense array are told apart by their order: row-major, col-major or global";
            return Err(ArrayError::Write(what.to_owned()));
        }
    };
    let cells = check(&target.schema, cells, 0, settings.any_utf8)?;
    Promises::default().follow(&target.schema, &cells, 0)?;
    check_count(&region, cells.len as u128)?;
    let mut writer = FragmentWriter::dense(target, &settings.names, region)?;
    let Tiles::Dense(grid) = writer.tiles()? else {
        return Err(ArrayError::Write("the array is sparse".to_owned()));
    };
    let slabs = TileSlabs::new(&target.schema, &grid, layout);
    let tile_cells = saturating_len(grid.cells_per_tile());
    let window = settings.window(target, &cells, tile_cells) as u64;
    let mut tile = 0;
    while tile < grid.tile_count() {
        let end = grid.tile_count().min(tile + window);
        let encoded = encode(target, &cells, &slabs, &grid, tile..end)?;
        writer.append(encoded, &vec![tile_cells; saturating_len(end - tile)])?;
        tile = end;
    }
    commit(target, vec![writer.seal()?], &settings.names, cells.len as u64)
}

/// For each field the tiles of a range.
fn encode(
    target: &Target,
    cells: &CheckedCells<'_>,
    slabs: &TileSlabs,
    grid: &DenseGrid,
    tiles: Range<u64>,
) -> Result<Vec<Vec<EncodedTile>>> {
    let tiles: Vec<u64> = tiles.collect();
    let cells_of_tiles = (tiles.len() as u64).saturating_mul(grid.cells_per_tile());
    let tile_cells = saturating_len(grid.cells_per_tile());
    let bytes = cells_of_tiles.saturating_mul(target.cell_size() as u64);
    target.encode_tiles(bytes, &tiles, |field, tile, scratch| {
        let slabs = slabs.of_tile(*tile);
        let encoder = &target.fields[field];
        let mut raw = std::mem::take(&mut scratch.raw);
        cut(&cells.fields[field], encoder.nullable, &slabs, tile_cells, &mut raw);
        let encoded = encoder.encode(&encoder.cells_of(&raw), tile_cells, slabs.iter().flat_map(Slab::runs), scratch);
        scratch.raw = raw;
        encoded
    })
}

/// Copies the cells of a tile. Those outside of the region become zeros, one value of them if cells differ in length; no
/// reader ever sees them.
fn cut(column: &CheckedColumn<'_>, nullable: bool, slabs: &[Slab], cells: usize, tile: &mut RawTile) {
    // Where the region has the whole tile, nothing of what the memory holds stays.
    let is_whole = column.offsets.is_none() && slabs.iter().map(Slab::len).sum::<usize>() == cells;
    tile.clear_but(is_whole);
    match &column.offsets {
        None => {
            tile.values.resize(cells * column.size, 0);
            slabs.iter().for_each(|slab| slab.copy(column.values, &mut tile.values, column.size));
        }
        Some(offsets) if slabs.iter().all(Slab::is_contiguous) => cut_runs(column, offsets, slabs, cells, tile),
        Some(offsets) => {
            let mut sources = vec![usize::MAX; cells];
            for slab in slabs {
                slab.cells().for_each(|(cell, source)| sources[cell] = source);
            }
            for source in sources {
                tile.offsets.push(tile.values.len() as u64);
                if source == usize::MAX {
                    tile.values.resize(tile.values.len() + column.size, 0);
                } else {
                    let bytes = offsets[source] as usize..offsets[source + 1] as usize;
                    tile.values.extend_from_slice(&column.values[bytes]);
                }
            }
        }
    }
    if nullable {
        tile.validity.resize(cells, 0);
        let bits = column.validity.map(BitView::view_bits::<Lsb0>);
        for (cell, source) in slabs.iter().flat_map(Slab::cells) {
            tile.validity[cell] = bits.is_none_or(|bits| bits[source]).into();
        }
    }
}

/// Copies cells of variable length of which whole runs follow each other in the tile and in the region.
fn cut_runs(column: &CheckedColumn<'_>, offsets: &[u64], slabs: &[Slab], cells: usize, tile: &mut RawTile) {
    let mut runs: Vec<(usize, Range<usize>)> = slabs.iter().map(Slab::run).collect();
    runs.sort_unstable_by_key(|(cell, _)| *cell);
    let mut next = 0;
    for (cell, source) in runs.into_iter().chain([(cells, 0..0)]) {
        for _ in next..cell {
            tile.offsets.push(tile.values.len() as u64);
            tile.values.resize(tile.values.len() + column.size, 0);
        }
        next = cell + source.len();
        let (start, end) = (offsets[source.start], offsets[source.end]);
        let shift = (tile.values.len() as u64).wrapping_sub(start);
        tile.offsets.extend(offsets[source].iter().map(|offset| offset.wrapping_add(shift)));
        tile.values.extend_from_slice(&column.values[start as usize..end as usize]);
    }
}
