#![doc = include_str!("../README.md")]

// Reading dense arrays.
//
// A result is a box of positions, made of boxes of cells of tiles. From the query to a batch:
//
// 1. `bands` and `cursor` cut the result into boxes that are batches, as large as the budget allows, preferably
//    where tiles end, and divide these among workers.
// 2. `work` finds for each box which tiles its cells lie in (`axis`), and which fragment has the newest of them
//    (`layers`), which comes down to loops over boxes of cells (`copy`).
// 3. `fields` finds the tiles of each field in these fragments.
// 4. `assembler` has the fields of a condition made first, and the others where cells fulfil it (`assembly`, `filter`).
// 5. `TileStream` takes tiles from their files chunk by chunk, leaving out chunks of which
//    nothing is wanted; tiles that have to be taken as a whole are `kept`. `fixed` and `var` ask it for what is wanted (`boxes`), and put it into the columns.

mod assembler;
mod assembly;
mod axis;
mod bands;
mod boxes;
mod coordinates;
mod copy;
mod cursor;
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

/// Reads a dense array, batch by batch.
#[derive(Debug)]
pub struct DenseReader {
    query: CheckedQuery,
    shape: Shape,
    layers: Layers,
    fields: Fields,
    /// What cells must fulfil, if anything.
    filter: Option<Filter>,
    cursor: Cursor,
    pool: BufferPool,
    /// Tiles that the next batch may need, too.
    kept: KeptTiles,
    /// Bytes that a cell took in the last batch; before the first one, a guess.
    bytes_per_cell: u64,
    /// Bytes that the next batch should not exceed.
    budget: u64,
}

/// Cells that come next, and the works that make them.
struct Planned {
    step: Step,
    works: Vec<Work>,
    size: BatchSize,
}

/// How large a batch may be.
#[derive(Clone, Copy, Debug)]
struct BatchSize {
    /// Cells that were to be taken at most.
    most: u128,
    /// Cells that were taken.
    cells: u128,
    /// Bytes.
    allowed: u128,
}

impl BatchSize {
    fn fits(self, bytes: u128) -> bool {
        // One cell always has room.
        self.most == 1 || self.cells == 1 || bytes <= self.allowed * 5 / 4
    }

    /// Of how many cells to make the batch instead, if these took so many bytes.
    fn fewer(self, bytes: u128) -> u128 {
        let held = self.most.min(self.cells);
        (held * self.allowed / bytes.max(1)).clamp(1, (held / 2).max(1))
    }
}

/// Bytes that it takes to keep track of one piece of a tile.
const PIECE_BYTES: u128 = 512;

/// Bytes of cells that make it worthwhile to have a part of a batch made by another worker.
const LEAST_WORK: u64 = 512 << 10;

impl DenseReader {
    /// Gives the cells of a query.
    pub fn new(query: CheckedQuery) -> Result<Self> {
        let mut reader = Self::of_region(query)?;
        reader.skip_unwritten()?;
        Ok(reader)
    }

    /// Goes through what somebody wrote alone, where that is enough.
    fn skip_unwritten(&mut self) -> Result<()> {
        if let Some(query) = narrow::within_written(&self.query, &self.layers)? {
            self.query = query;
            self.shape = Shape::new(&self.query);
            self.cursor = Cursor::of(&self.query, &self.shape);
        }
        Ok(())
    }

    /// Goes through all that a query asks for.
    fn of_region(query: CheckedQuery) -> Result<Self> {
        let layers = Layers::new(&query.array)?;
        let query = narrow::within_hull(query, &layers);
        let shape = Shape::new(&query);
        let fields = Fields::new(&query)?;
        let cursor = Cursor::of(&query, &shape);
        let guess = (0..fields.outputs().len()).map(|index| match fields.outputs()[index].is_var() {
            true => fields.field(index).cell_bytes() + 16,
            false => fields.field(index).cell_bytes(),
        });
        let bytes_per_cell = guess.fold(0, u64::saturating_add).max(1);
        let budget = query.memory.batch as u64;
        let filter = Filter::of(&query, &fields);
        let (pool, kept) = (BufferPool::of_rows(), KeptTiles::of(query.memory.held));
        Ok(Self { query, shape, layers, fields, filter, cursor, pool, kept, bytes_per_cell, budget })
    }

    /// The next batch; none after the last one.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        let mut most = self.most_cells();
        loop {
            let Some(planned) = self.plan_batch(&mut most, Self::batch_division)? else { return Ok(None) };
            let Planned { step, mut works, size } = planned;
            let count = works.last().map_or(0, |work| work.cells.end);
            let (assembler, memory) = self.assembler();
            let cells = match assembler.assemble(&mut works, memory, |bytes| size.fits(bytes / 2))? {
                Assembled::Cells(cells) => cells,
                // How long cells are may differ much within a tile.
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

    /// How many cells the next batch may have, by what those of the last one took.
    fn most_cells(&self) -> u128 {
        u128::from(self.budget / self.bytes_per_cell).max(1)
    }

    /// Goes on behind cells that took so many bytes.
    fn accept(&mut self, step: Step, bytes: u128) {
        self.bytes_per_cell = u64::try_from(bytes / step.cells().max(1)).unwrap_or(u64::MAX).max(1);
        self.cursor = step.next;
        self.budget = self.budget.saturating_mul(2).min(self.query.memory.most_batch as u64);
    }

    /// What is to do for the next cells, at most so many, and as many as seem to fit into the budget; none at the end.
    fn plan_batch(&mut self, most: &mut u128, division: impl Fn(&Self, &Step) -> Division) -> Result<Option<Planned>> {
        let budget = u128::from(self.budget);
        // Tiles may be as small as a cell: more of them than can be kept track of are not even counted.
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
            let bytes = u128::from(self.fields.bytes(&works, self.shape.cells_per_tile));
            if !size.fits(bytes) {
                *most = size.fewer(bytes);
                continue;
            }
            return Ok(Some(Planned { step, works, size }));
        }
    }

    /// What makes columns, and the memory for them.
    fn assembler(&mut self) -> (Assembler<'_>, (&mut BufferPool, &mut KeptTiles)) {
        let Self { shape, fields, filter, pool, kept, query, .. } = self;
        (Assembler { shape, fields, filter: filter.as_ref(), workers: query.array.workers() }, (pool, kept))
    }

    /// The batch that is made of so many cells.
    fn batch(&self, cells: AssembledCells, count: usize) -> Batch {
        let AssembledCells { columns, matches, .. } = cells;
        match (&self.filter, matches) {
            (Some(_), Some(matches)) if matches.count() == 0 && self.query.only_matching => Batch::new(Vec::new(), 0),
            (Some(filter), Some(matches)) => filter.apply(Batch::new(columns, count), &matches, &self.fields),
            _ => Batch::new(columns, count),
        }
    }

    /// What is to do for a batch, with the tiles for it at hand.
    fn works(&mut self, step: &Step, division: Division) -> Result<Vec<Work>> {
        let mut works = step.works(&self.shape, &self.layers, division);
        self.filter.as_mut().map(|filter| filter.rule_out(&mut works)).transpose()?;
        self.fields.load(&works)?;
        Ok(works)
    }

    /// Into how many works to divide what becomes one batch.
    fn batch_division(&self, _step: &Step) -> Division {
        let threads = self.query.array.workers().threads();
        let works = if threads > 1 { 4 * threads } else { 1 };
        Division { works, least_cells: self.least_cells() }
    }

    fn least_cells(&self) -> u128 {
        u128::from((LEAST_WORK / self.bytes_per_cell).max(1))
    }
}
