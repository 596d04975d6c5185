//! Consolidation of dense fragments. Reads boxes of tiles, and writes their tiles. If the newest
//! fragment with cells in a tile contains the whole tile, copies the tile in filtered form where
//! possible.

mod boxes;
mod copies;

use std::sync::Arc;

use tdb_cells::{CellBuffers, Order};
use tdb_fragment::DenseGrid;
use tdb_read::Query;
use tdb_rtree::NdRange;
use tdb_snapshot::{Result, Snapshot};
use tdb_types::{Cells, Layout, saturating_len};
use tdb_write::{EncodedTile, FragmentWriter, SealedFragment, Target, cells_in, encode_box};

use crate::join::{ConsolidatedFragments, FragmentJoin, TileCounts};
use boxes::{Boxes, TileBox};
use copies::{Copies, Part};

/// Writes all cells in the domain of the consolidation. Cells that were never written are written
/// with fill values.
pub(super) fn join(join: &FragmentJoin) -> Result<ConsolidatedFragments> {
    let domain = join.domain()?;
    let target = Arc::new(Target::new(join.destination(), join.version)?);
    let grid = target.dense_grid(&domain)?;
    let mut writer = DenseWriter {
        join,
        target: &target,
        domain: &domain,
        slowest: slowest(&grid),
        tile_cells: saturating_len(grid.cells_per_tile()),
        fragment: None,
        sealed: Vec::new(),
        slice: None,
        cells: 0,
        tiles: TileCounts::default(),
    };
    let copies = Copies::new(&join.array, &target, &grid, &domain)?;
    for tiles in Boxes::new(&grid, &target, join.budget) {
        for (tiles, part) in copies.divide(tiles) {
            join.array.workers().check()?;
            let (region, _) = tiles.region(&grid, &target, &domain);
            let encoded = match part {
                Part::Read => writer.read(&region)?,
                Part::Copied(fragment) => writer.copy(copies.encoded(fragment, &tiles)?, &region),
            };
            writer.write(&tiles, &region, encoded)?;
        }
    }
    writer.seal()?;
    let DenseWriter { sealed, cells, tiles, .. } = writer;
    Ok(ConsolidatedFragments { names: join.names.clone(), sealed, cells, tiles, target })
}

/// A writer of consecutive boxes of tiles.
struct DenseWriter<'a> {
    join: &'a FragmentJoin,
    target: &'a Arc<Target>,
    /// Domain of the cells to write.
    domain: &'a NdRange,
    /// Slowest dimension of the tile order. Fragments can end between the slices along this
    /// dimension.
    slowest: usize,
    tile_cells: usize,
    /// The current fragment and the domain of its cells so far.
    fragment: Option<(FragmentWriter, NdRange)>,
    sealed: Vec<SealedFragment>,
    /// The index of the current slice, and the size of the fragment's data files at the start of
    /// the slice.
    slice: Option<(u64, u64)>,
    cells: u64,
    tiles: TileCounts,
}

impl DenseWriter<'_> {
    /// Reads the cells of a box and encodes its tiles.
    fn read(&mut self, region: &NdRange) -> Result<Vec<Vec<EncodedTile>>> {
        let cells = read(&self.join.array, self.target, region, self.join.budget / 4)?;
        let fields = self.target.fields.iter().zip(&cells);
        let views: Vec<Cells<'_>> = fields.map(|(field, cells)| cells.cells(field.size)).collect();
        self.cells += views.first().map_or(0, Cells::len) as u64;
        Ok(encode_box(self.target, region, &views)?.0)
    }

    /// Counts copied tiles and their cells, and returns the tiles.
    fn copy(&mut self, encoded: Vec<Vec<EncodedTile>>, region: &NdRange) -> Vec<Vec<EncodedTile>> {
        self.cells += u64::try_from(cells_in(region)).unwrap_or(u64::MAX);
        self.tiles.copied += encoded.iter().map(Vec::len).sum::<usize>() as u64;
        encoded
    }

    /// Writes the tiles of a box.
    fn write(&mut self, tiles: &TileBox, region: &NdRange, encoded: Vec<Vec<EncodedTile>>) -> Result<()> {
        let slowest = self.slowest;
        self.begin_slice(tiles.0[slowest].0)?;
        self.tiles.written += encoded.iter().map(Vec::len).sum::<usize>() as u64;
        let count = encoded.first().map_or(0, Vec::len);
        let (fragment, written) = match &mut self.fragment {
            Some(fragment) => fragment,
            none => {
                let mut domain = self.domain.clone();
                domain.0[slowest] = region.0[slowest].clone();
                let fragment = FragmentWriter::dense(self.target, &self.join.names, domain.clone())?;
                none.insert((fragment, domain))
            }
        };
        fragment.append(encoded, &vec![self.tile_cells; count])?;
        written.0[slowest].expand(&region.0[slowest]);
        Ok(())
    }

    /// At the start of a slice, ends the current fragment if this slice would exceed the size
    /// limit.
    fn begin_slice(&mut self, slice: u64) -> Result<()> {
        let Some(max) = self.join.max_fragment_size else { return Ok(()) };
        if self.slice.is_some_and(|(current, _)| current == slice) {
            return Ok(());
        }
        let size = self.fragment.as_ref().map_or(0, |(fragment, _)| fragment.data_size());
        // The estimated size of the next slice is the size of the last slice.
        let last = size - self.slice.map_or(0, |(_, before)| before);
        let is_full = size > 0 && size + last > max;
        if is_full {
            self.seal()?;
        }
        self.slice = Some((slice, if is_full { 0 } else { size }));
        Ok(())
    }

    fn seal(&mut self) -> Result<()> {
        if let Some((fragment, domain)) = self.fragment.take() {
            self.sealed.push(fragment.with_domain(domain)?.seal()?);
        }
        Ok(())
    }
}

/// Returns the slowest dimension of the tile order.
fn slowest(grid: &DenseGrid) -> usize {
    if grid.order() == Layout::ColMajor { grid.dimensions().len() - 1 } else { 0 }
}

/// Reads the cells of a box, field by field, in the cell order of tiles.
fn read(array: &Snapshot, target: &Target, region: &NdRange, budget: usize) -> Result<Vec<CellBuffers>> {
    let order = if target.schema.cell_order() == Layout::ColMajor { Order::ColMajor } else { Order::RowMajor };
    // The fields of both arrays correspond by index, because an unnamed field of one array may have
    // a name in the other array.
    let names: Vec<&str> = array.schema().attributes().iter().map(tdb_schema::Attribute::name).collect();
    let query = Query::new(array).select(names)?.inside(region).order(order).budget(budget);
    let mut cells: Vec<CellBuffers> = target.fields.iter().map(|_| CellBuffers::default()).collect();
    for batch in query.batches()? {
        for ((column, field), cells) in batch?.columns().iter().zip(&target.fields).zip(&mut cells) {
            cells.push(&column.cells(), field.nullable);
        }
    }
    Ok(cells)
}
