//! Dense fragments: read box by box, written tile by tile; tiles that one fragment alone decides are copied as they are stored.

mod boxes;
mod copies;

use std::sync::Arc;

use tdb_cells::{CellBuffers, Order};
use tdb_fragment::{DenseGrid, FragmentBuilder, Tiles};
use tdb_read::Query;
use tdb_rtree::NdRange;
use tdb_snapshot::{ArrayError, Result, Snapshot};
use tdb_types::{Cells, Layout, saturating_len};
use tdb_write::{EncodedTile, FragmentWriter, SealedFragment, Target, cells_in, encode_box};

use crate::join::{Join, Joined, TileCounts};
use boxes::{Boxes, TileBox};
use copies::{Copies, Part};

/// Reads all cells in the box around the fragments; those that nobody wrote become fill values that were written.
pub(super) fn join(join: &Join) -> Result<Joined> {
    let domain = join.domain()?;
    let target = Arc::new(Target::new(join.destination(), join.version)?);
    let grid = grid_of(&target, &domain)?;
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
    Ok(Joined { names: join.names.clone(), sealed, cells, tiles, target })
}

/// The tiles that a box of cells touches.
fn grid_of(target: &Target, domain: &NdRange) -> Result<DenseGrid> {
    let builder = FragmentBuilder::dense(target.version, &target.schema, target.schema_name(), domain.clone());
    let error = |source| ArrayError::Fragment { file: target.array.storage().describe(""), source };
    match builder.and_then(|builder| builder.tiles()).map_err(error)? {
        Tiles::Dense(grid) => Ok(grid),
        _ => Err(ArrayError::Write("the array is sparse".to_owned())),
    }
}

/// Writes boxes of tiles one after the other.
struct DenseWriter<'a> {
    join: &'a Join,
    target: &'a Arc<Target>,
    /// Of all fragments together.
    domain: &'a NdRange,
    /// The dimension along which tiles follow each other slowest: between its slices fragments can be cut.
    slowest: usize,
    tile_cells: usize,
    /// The current fragment, and which cells it has so far.
    fragment: Option<(FragmentWriter, NdRange)>,
    sealed: Vec<SealedFragment>,
    /// The slice that is written, and the size of the fragment when it began.
    slice: Option<(u64, u64)>,
    cells: u64,
    tiles: TileCounts,
}

impl DenseWriter<'_> {
    /// Reads a box of tiles and filters them.
    fn read(&mut self, region: &NdRange) -> Result<Vec<Vec<EncodedTile>>> {
        let cells = read(&self.join.array, self.target, region, self.join.budget / 4)?;
        let fields = self.target.fields.iter().zip(&cells);
        let views: Vec<Cells<'_>> = fields.map(|(field, cells)| cells.cells(field.size)).collect();
        self.cells += views.first().map_or(0, Cells::len) as u64;
        Ok(encode_box(self.target, region, &views)?.0)
    }

    /// Counts tiles of a box that are filtered already.
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

    /// Ends the fragment where another slice of tiles begins that would make it too large.
    fn begin_slice(&mut self, slice: u64) -> Result<()> {
        let Some(max) = self.join.max_fragment_size else { return Ok(()) };
        if self.slice.is_some_and(|(current, _)| current == slice) {
            return Ok(());
        }
        let size = self.fragment.as_ref().map_or(0, |(fragment, _)| fragment.data_size());
        // The next slice will be about as large as the last.
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

/// The dimension along which tiles follow each other slowest.
fn slowest(grid: &DenseGrid) -> usize {
    if grid.order() == Layout::ColMajor { grid.dimensions().len() - 1 } else { 0 }
}

/// The cells of a box, field by field, in the order of cells in tiles.
fn read(array: &Snapshot, target: &Target, region: &NdRange, budget: usize) -> Result<Vec<CellBuffers>> {
    let order = if target.schema.cell_order() == Layout::ColMajor { Order::ColMajor } else { Order::RowMajor };
    // The fields of both arrays stand for each other in their order; one without a name may have one there.
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
