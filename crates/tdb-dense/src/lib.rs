#![doc = include_str!("../README.md")]

// The result of a query is a box of positions, assembled from boxes of cells of tiles. A batch is
// built in these steps:
//
// 1. `bands` and `cursor` cut the result into batches: boxes as large as the budget allows,
//    preferably ending with tiles. `cursor` also divides batches among workers.
// 2. `work` determines which tiles each box intersects (`axis`) and which fragment has the newest
//    cells (`layers`). The result is a list of loops over boxes of cells (`copy`).
// 3. `fields` finds the tiles of each field in these fragments.
// 4. `assembler` first builds the fields of a condition, then the other fields where cells meet the
//    condition (`assembly`, `filter`).
// 5. `TileStream` reads tiles chunk by chunk and skips chunks without requested cells. Tiles that
//    must be unfiltered completely are `kept`. `fixed` and `var` request cells (`boxes`) and write
//    them into the columns.

mod assembler;
mod assembly;
mod axis;
mod bands;
mod boxes;
mod coordinates;
mod copy;
mod cursor;
mod domain_cells;
mod fields;
mod filter;
mod fixed;
mod kept;
mod layers;
mod narrow;
mod planned;
mod runs;
mod scan;
mod shape;
mod survivors;
mod var;
mod walk;
mod work;
mod written;

use tdb_cells::Batch;
use tdb_query::{BufferPool, CheckedQuery};
use tdb_snapshot::Result;

use assembler::{Assembled, AssembledCells, Assembler};
use bands::STRETCH;
use cursor::{Cursor, Division, Step};
use fields::Fields;
use filter::Filter;
use kept::KeptTiles;
use layers::Layers;
use shape::Shape;
use work::Work;

pub use planned::plan;
pub use scan::scan;

/// A reader for the cells of a dense array, batch by batch.
#[derive(Debug)]
pub struct DenseReader {
    query: CheckedQuery,
    shape: Shape,
    layers: Layers,
    fields: Fields,
    /// The condition of the query, if any.
    filter: Option<Filter>,
    cursor: Cursor,
    pool: BufferPool,
    /// Unfiltered tiles that the next batch may need too.
    kept: KeptTiles,
    /// Bytes per cell in the last batch. Estimated before the first batch.
    bytes_per_cell: u64,
    /// Target size of the next batch in bytes.
    budget: u64,
}

/// The next cells, divided into units of work.
struct Planned {
    step: Step,
    works: Vec<Work>,
    size: BatchSize,
}

/// Size limits of a batch.
#[derive(Clone, Copy, Debug)]
struct BatchSize {
    /// Maximum number of cells that was requested.
    most: u128,
    /// Number of cells in the batch.
    cells: u128,
    /// Target number of bytes. A batch may exceed the target by a quarter.
    allowed: u128,
}

impl BatchSize {
    fn fits(self, bytes: u128) -> bool {
        // A batch of one cell is always allowed.
        self.most == 1 || self.cells == 1 || bytes <= self.allowed * 5 / 4
    }

    /// Returns a smaller number of cells to try, given the bytes that this batch would take.
    fn fewer(self, bytes: u128) -> u128 {
        let held = self.most.min(self.cells);
        (held * self.allowed / bytes.max(1)).clamp(1, (held / 2).max(1))
    }
}

/// Bytes of bookkeeping per piece of a tile.
const PIECE_BYTES: u128 = 512;

/// Minimum bytes of cells for a separate unit of work.
const LEAST_WORK: u64 = 512 << 10;

impl DenseReader {
    /// Starts to read the cells of a query.
    ///
    /// # Errors
    /// The metadata of a fragment cannot be read, or the query was cancelled.
    pub fn new(query: CheckedQuery) -> Result<Self> {
        let mut reader = Self::of_region(query)?;
        reader.skip_ruled_out()?;
        Ok(reader)
    }

    /// Restricts the query to tiles that may hold a matching cell, if unwritten cells cannot be in
    /// the result.
    fn skip_ruled_out(&mut self) -> Result<()> {
        if let Some(query) = narrow::within_survivors(&self.query, &self.layers, &self.shape)? {
            self.query = query;
            self.shape = Shape::new(&self.query);
            self.cursor = Cursor::of(&self.query, &self.shape);
        }
        Ok(())
    }

    /// Prepares to read the complete region of a query.
    fn of_region(query: CheckedQuery) -> Result<Self> {
        let layers = Layers::new(&query.array)?;
        let query = narrow::within_hull(query, &layers);
        let shape = Shape::new(&query);
        let fields = Fields::new(&query)?;
        let cursor = Cursor::of(&query, &shape);
        let guess = (0..fields.outputs.len()).map(|index| match fields.outputs[index].is_var() {
            true => fields.field(index).cell_bytes() + 16,
            false => fields.field(index).cell_bytes(),
        });
        let bytes_per_cell = guess.fold(0, u64::saturating_add).max(1);
        let budget = query.memory.batch as u64;
        let filter = Filter::of(&query, &fields);
        let (pool, kept) = (BufferPool::of_rows(), KeptTiles::of(query.memory.held));
        Ok(Self { query, shape, layers, fields, filter, cursor, pool, kept, bytes_per_cell, budget })
    }

    /// Returns the next batch, or `None` after the last batch.
    ///
    /// # Errors
    /// A tile cannot be read, a batch of one cell does not fit into memory, or the query was
    /// cancelled.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        let mut most = self.most_cells();
        loop {
            let Some(planned) = self.plan_batch(&mut most, Self::batch_division)? else { return Ok(None) };
            let Planned { step, mut works, size } = planned;
            let count = works.last().map_or(0, |work| work.cells.end);
            let (assembler, memory) = self.assembler();
            let cells = match assembler.assemble(&mut works, memory, |bytes| size.fits(bytes / 2))? {
                Assembled::Cells(cells) => cells,
                // The length of cells may vary a lot within a tile.
                Assembled::TooLarge(bytes) => {
                    most = size.fewer(bytes);
                    continue;
                }
            };
            let bytes = cells.bytes;
            let batch = self.batch(cells, count);
            self.pool.lend(&batch);
            self.accept(step, bytes);
            most = self.most_cells();
            if !batch.is_empty() {
                return Ok(Some(batch));
            }
        }
    }

    /// Returns the maximum number of cells of the next batch, estimated from the last batch.
    fn most_cells(&self) -> u128 {
        u128::from(self.budget / self.bytes_per_cell).max(1)
    }

    /// Advances past a step. The cells of the step took `bytes` bytes.
    fn accept(&mut self, step: Step, bytes: u128) {
        self.bytes_per_cell = u64::try_from(bytes / step.cells().max(1)).unwrap_or(u64::MAX).max(1);
        self.cursor = step.next;
        self.budget = self.budget.saturating_mul(2).min(self.query.memory.most_batch as u64);
    }

    /// Plans the next batch of at most `most` cells within the budget. Lowers `most` if the
    /// estimate exceeds the budget. Returns `None` at the end.
    fn plan_batch(&mut self, most: &mut u128, division: impl Fn(&Self, &Step) -> Division) -> Result<Option<Planned>> {
        let budget = u128::from(self.budget);
        // Tiles may be as small as a cell. Bound the number before the enumeration.
        let most_boxes = usize::try_from(budget / PIECE_BYTES).unwrap_or(usize::MAX).max(1);
        loop {
            let Some(step) = self.cursor.step(&self.shape, *most, most_boxes) else { return Ok(None) };
            let allowed = match step.stretched {
                true => budget.max((budget * STRETCH).min(self.query.memory.most_stretched as u128)),
                false => budget,
            };
            let size = BatchSize { most: *most, cells: step.cells(), allowed };
            let tracked = step.pieces(&self.shape) * PIECE_BYTES;
            if !size.fits(tracked) {
                *most = size.fewer(tracked);
                continue;
            }
            let works = self.works(&step, division(self, &step))?;
            if works.is_empty() {
                self.query.array.workers().check()?;
                self.cursor = step.next;
                continue;
            }
            let bytes = u128::from(self.fields.bytes(&works, self.shape.cells_per_tile));
            if !size.fits(bytes) {
                *most = size.fewer(bytes);
                continue;
            }
            return Ok(Some(Planned { step, works, size }));
        }
    }

    /// Returns the assembler and its buffers.
    fn assembler(&mut self) -> (Assembler<'_>, (&mut BufferPool, &mut KeptTiles)) {
        let Self { shape, fields, filter, pool, kept, query, .. } = self;
        (Assembler { shape, fields, filter: filter.as_ref(), workers: query.array.workers() }, (pool, kept))
    }

    /// Builds the batch from assembled columns of `count` cells.
    fn batch(&self, cells: AssembledCells, count: usize) -> Batch {
        let AssembledCells { columns, matches, .. } = cells;
        match (&self.filter, matches) {
            (Some(_), Some(matches)) if matches.count == 0 && self.query.only_matching => Batch::new(Vec::new(), 0),
            (Some(filter), Some(matches)) => filter.apply(Batch::new(columns, count), &matches, &self.fields),
            _ => Batch::new(columns, count),
        }
    }

    /// Divides a step into units of work and loads the tiles of all fields. Omits units without a
    /// possible match.
    fn works(&mut self, step: &Step, division: Division) -> Result<Vec<Work>> {
        let mut works = step.works(&self.shape, &self.layers, division);
        if let Some(filter) = &mut self.filter {
            filter.rule_out(&mut works)?;
            if filter.unwritten_pass == Some(false) {
                works.retain(Work::has_tiles);
                let mut end = 0;
                for work in &mut works {
                    work.cells = end..end + work.cells.len();
                    end = work.cells.end;
                }
            }
        }
        self.fields.load(&works)?;
        Ok(works)
    }

    /// Returns the division of a step into units of work. All cells of the step become one batch.
    fn batch_division(&self, _step: &Step) -> Division {
        let threads = self.query.array.workers().threads();
        let works = if threads > 1 { 4 * threads } else { 1 };
        Division { works, least_cells: self.least_cells() }
    }

    fn least_cells(&self) -> u128 {
        u128::from((LEAST_WORK / self.bytes_per_cell).max(1))
    }
}
