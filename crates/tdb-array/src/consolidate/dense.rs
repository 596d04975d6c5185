//! Dense fragments: read box by box, written tile by tile.

use std::sync::Arc;

use tdb_fragment::{DenseGrid, FragmentBuilder, Tiles};
use tdb_rtree::{DimRange, NdRange};
use tdb_types::{Cells, Layout, saturating_len};

use super::join::{Join, Joined};
use crate::tiles::CellBuffers;
use crate::write::{FragmentWriter, SealedFragment, Target, encode_box};
use crate::{Array, ArrayError, Order, Result};

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
        fragment: None,
        sealed: Vec::new(),
        slice: None,
        cells: 0,
    };
    for tiles in Boxes::new(&grid, &target, join.budget) {
        join.array.workers().check()?;
        writer.write(&tiles, &tiles.region(&grid, &target, &domain))?;
    }
    writer.seal()?;
    let DenseWriter { sealed, cells, .. } = writer;
    Ok(Joined { names: join.names.clone(), sealed, cells, target })
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
    /// The current fragment, and which cells it has so far.
    fragment: Option<(FragmentWriter, NdRange)>,
    sealed: Vec<SealedFragment>,
    /// The slice that is written, and the size of the fragment when it began.
    slice: Option<(u64, u64)>,
    cells: u64,
}

impl DenseWriter<'_> {
    /// Reads a box of tiles and writes them.
    fn write(&mut self, tiles: &TileBox, region: &NdRange) -> Result<()> {
        let slowest = self.slowest;
        self.begin_slice(tiles.0[slowest].0)?;
        let cells = read(&self.join.array, self.target, region, self.join.budget / 4)?;
        let fields = self.target.fields.iter().zip(&cells);
        let views: Vec<Cells<'_>> = fields.map(|(field, cells)| cells.cells(field.size)).collect();
        self.cells += views.first().map_or(0, Cells::len) as u64;
        let (encoded, tile_cells) = encode_box(self.target, region, &views)?;
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
        fragment.append(encoded, &vec![tile_cells; count])?;
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
fn read(array: &Array, target: &Target, region: &NdRange, budget: usize) -> Result<Vec<CellBuffers>> {
    let order = if target.schema.cell_order() == Layout::ColMajor { Order::ColMajor } else { Order::RowMajor };
    // The fields of both arrays stand for each other in their order; one without a name may have one there.
    let names: Vec<&str> = array.schema().attributes().iter().map(tdb_schema::Attribute::name).collect();
    let query = array.read().select(names)?.inside(region).order(order).budget(budget);
    let mut cells: Vec<CellBuffers> = target.fields.iter().map(|_| CellBuffers::default()).collect();
    for batch in query.batches()? {
        for ((column, field), cells) in batch?.columns().iter().zip(&target.fields).zip(&mut cells) {
            cells.push(&column.cells(), field.nullable);
        }
    }
    Ok(cells)
}

/// Of each dimension the first tile and how many, counted from the first of the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TileBox(Vec<(u64, u64)>);

impl TileBox {
    /// The cells of the tiles that lie in the domain.
    fn region(&self, grid: &DenseGrid, target: &Target, domain: &NdRange) -> NdRange {
        let dimensions = grid.dimensions().iter().zip(target.schema.dimensions());
        let ranges = dimensions.zip(&self.0).zip(&domain.0).map(|(((along, dimension), (first, count)), range)| {
            let (DimRange::Fixed { lo, hi }, Some((low, _))) = (range, dimension.domain_keys()) else {
                return range.clone();
            };
            let start = low + (along.first + first) * along.extent;
            let last = (along.first + first + count - 1) * along.extent + (along.extent - 1);
            DimRange::Fixed { lo: start.max(*lo), hi: low.saturating_add(last).min(*hi) }
        });
        NdRange(ranges.collect())
    }
}

/// Boxes of tiles that follow each other in the order of tiles, each of about as many cells as may be held.
struct Boxes {
    /// The dimensions, the slowest first, and how many tiles there are along each.
    dimensions: Vec<(usize, u64)>,
    /// Which of them is cut; those behind it are whole, of those before it a box has one tile.
    cut: usize,
    /// How many tiles a box has along it.
    step: u64,
    next: Option<Vec<u64>>,
}

impl Boxes {
    fn new(grid: &DenseGrid, target: &Target, budget: usize) -> Self {
        let mut dimensions: Vec<(usize, u64)> =
            grid.dimensions().iter().enumerate().map(|(index, along)| (index, along.count)).collect();
        if grid.order() == Layout::ColMajor {
            dimensions.reverse();
        }
        // Cells are there as they were read, and again as tiles before and behind the filters.
        let tile = saturating_len(grid.cells_per_tile()).saturating_mul(target.cell_size()).saturating_mul(4).max(1);
        let mut tiles = (budget / tile).max(1) as u64;
        let mut cut = dimensions.len() - 1;
        while cut > 0 && dimensions[cut].1 <= tiles {
            tiles /= dimensions[cut].1;
            cut -= 1;
        }
        let next = Some(vec![0; cut + 1]);
        Self { step: tiles.min(dimensions[cut].1).max(1), dimensions, cut, next }
    }
}

impl Iterator for Boxes {
    type Item = TileBox;

    fn next(&mut self) -> Option<TileBox> {
        let at = self.next.take()?;
        let mut tiles = vec![(0, 0); self.dimensions.len()];
        for (place, (dimension, count)) in self.dimensions.iter().enumerate() {
            tiles[*dimension] = match place {
                place if place < self.cut => (at[place], 1),
                place if place == self.cut => (at[place], self.step.min(count - at[place])),
                _ => (0, *count),
            };
        }
        let mut after = at;
        after[self.cut] += self.step;
        for place in (0..=self.cut).rev() {
            if after[place] < self.dimensions[place].1 {
                self.next = Some(after);
                break;
            }
            after[place] = 0;
            if place > 0 {
                after[place - 1] += 1;
            }
        }
        Some(TileBox(tiles))
    }
}
