//! Reading dense arrays.
//!
//! A result is a box of positions, made of boxes of cells of tiles. From the query to a batch:
//!
//! 1. [`bands`] and [`cursor`] cut the result into boxes that are batches, as large as the budget allows, preferably
//!    where tiles end, and divide these among workers.
//! 2. [`work`] finds for each box which tiles its cells lie in ([`axis`]), and which fragment has the newest of them
//!    ([`layers`]), which comes down to loops over boxes of cells ([`copy`]).
//! 3. [`fields`] finds the tiles of each field in these fragments.
//! 4. [`TileStream`](crate::tiles::TileStream) takes tiles from their files chunk by chunk, leaving out chunks of which
//!    nothing is wanted. [`fixed`] and [`var`] ask it for what is wanted ([`boxes`]), and put it into the columns.

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
mod layers;
mod planned;
mod runs;
mod scan;
mod shape;
mod var;
mod walk;
mod work;

use assembly::Assembly;
use bands::STRETCH;
use cursor::{Cursor, Division, Step};
use fields::Fields;
use filter::{Filter, RuledOut};
use layers::Layers;
use runs::Sides;
use shape::Shape;
use work::Work;

use super::BufferPool;
use crate::query::CheckedQuery;
use crate::{Batch, Column, Result};

pub(crate) use planned::plan;
pub(crate) use scan::scan;

/// Reads a dense array, batch by batch.
#[derive(Debug)]
pub(crate) struct DenseReader {
    query: CheckedQuery,
    shape: Shape,
    layers: Layers,
    fields: Fields,
    /// What cells must fulfil, if anything.
    filter: Option<Filter>,
    cursor: Cursor,
    pool: BufferPool,
    /// Bytes that a cell took in the last batch; before the first one, a guess.
    bytes_per_cell: u64,
    /// Bytes that the next batch should not exceed.
    budget: u64,
}

/// What came of making a batch.
enum Assembled {
    /// It takes so many bytes.
    Batch(u128, Batch),
    /// It would take so many bytes, which are too many.
    TooLarge(u128),
}

/// Bytes that it takes to keep track of one piece of a tile.
const PIECE_BYTES: u128 = 512;

/// Bytes of cells that make it worthwhile to have a part of a batch made by another worker.
const LEAST_WORK: u64 = 512 << 10;

impl DenseReader {
    pub(crate) fn new(query: CheckedQuery) -> Result<Self> {
        let shape = Shape::new(&query);
        let layers = Layers::new(&query.array)?;
        let fields = Fields::new(&query)?;
        let order = shape.result_order(&query, query.array.schema());
        let cursor = match Sides::of(&query) {
            Some(sides) => Cursor::of_boxes(&shape, sides, order),
            None => Cursor::new(&shape, order),
        };
        let guess = (0..fields.outputs().len()).map(|index| match fields.outputs()[index].is_var() {
            true => fields.field(index).cell_bytes() + 16,
            false => fields.field(index).cell_bytes(),
        });
        let bytes_per_cell = guess.fold(0, u64::saturating_add).max(1);
        let budget = query.memory.batch as u64;
        let filter = Filter::of(&query, &fields);
        Ok(Self { query, shape, layers, fields, filter, cursor, pool: BufferPool::of_rows(), bytes_per_cell, budget })
    }

    /// The next batch; none after the last one.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>> {
        let budget = self.budget;
        let mut most = u128::from(budget / self.bytes_per_cell).max(1);
        // Tiles may be as small as a cell: more of them than can be kept track of are not even counted.
        let most_boxes = usize::try_from(u128::from(budget) / PIECE_BYTES).unwrap_or(usize::MAX).max(1);
        loop {
            let Some(step) = self.cursor.step(&self.shape, most, most_boxes) else { return Ok(None) };
            let cells = step.cells();
            // One cell always has room.
            let allowed = match step.stretched {
                true => {
                    u128::from(budget).max((u128::from(budget) * STRETCH).min(self.query.memory.most_stretched as u128))
                }
                false => u128::from(budget),
            };
            let fits = |bytes: u128| most == 1 || cells == 1 || bytes <= allowed * 5 / 4;
            let held = most.min(cells);
            let fewer = |bytes: u128| (held * allowed / bytes.max(1)).clamp(1, (held / 2).max(1));
            let tracked = step.pieces(&self.shape) * PIECE_BYTES;
            if !fits(tracked) {
                most = fewer(tracked);
                continue;
            }
            let (works, out) = self.works(&step)?;
            let bytes = u128::from(self.fields.bytes(&works, self.shape.cells_per_tile));
            if !fits(bytes) {
                most = fewer(bytes);
                continue;
            }
            let (bytes, batch) = match self.assemble(works, &out, |bytes| fits(bytes / 2))? {
                Assembled::Batch(bytes, batch) => (bytes, batch),
                // How long cells are may differ much within a tile.
                Assembled::TooLarge(bytes) => {
                    most = fewer(bytes);
                    continue;
                }
            };
            self.pool.lend(&batch);
            self.bytes_per_cell = u64::try_from(bytes / cells.max(1)).unwrap_or(u64::MAX).max(1);
            self.cursor = step.next;
            self.budget = budget.saturating_mul(2).min(self.query.memory.most_batch as u64);
            if !batch.is_empty() {
                return Ok(Some(batch));
            }
        }
    }

    /// Makes a batch, unless that takes more bytes than fit.
    fn assemble(&mut self, mut works: Vec<Work>, out: &RuledOut, fits: impl Fn(u128) -> bool) -> Result<Assembled> {
        let Self { shape, fields, filter, pool, query, .. } = self;
        let parts = (&*shape, &*fields, query.array.workers());
        let cells = works.last().map_or(0, |work| work.cells.end);
        let Some(filter) = filter else {
            let wanted: Vec<usize> = (0..fields.visible()).collect();
            let mut assembly = Assembly::new(parts, &works, &wanted, pool);
            let bytes = assembly.measure()?;
            if !fits(bytes) {
                return Ok(Assembled::TooLarge(bytes));
            }
            return Ok(Assembled::Batch(bytes, Batch::new(assembly.finish()?, cells)));
        };
        let mut assembly = Assembly::new(parts, &works, filter.needed(), pool);
        let mut bytes = assembly.measure()?;
        if !fits(bytes) {
            return Ok(Assembled::TooLarge(bytes));
        }
        let needed = assembly.finish()?;
        let matches = filter.matches(&needed, &works, out);
        if matches.count() == 0 && query.only_matching {
            return Ok(Assembled::Batch(bytes, Batch::new(Vec::new(), 0)));
        }
        matches.prune(&mut works);
        let others: Vec<usize> = (0..fields.visible()).filter(|index| !filter.needed().contains(index)).collect();
        let mut assembly = Assembly::new(parts, &works, &others, pool);
        bytes += assembly.measure()?;
        if !fits(bytes) {
            return Ok(Assembled::TooLarge(bytes));
        }
        let mut columns: Vec<Option<Column>> = vec![None; fields.outputs().len()];
        let made = filter.needed().iter().zip(needed).chain(others.iter().zip(assembly.finish()?));
        made.for_each(|(index, column)| columns[*index] = Some(column));
        let visible = columns.into_iter().take(fields.visible()).flatten().collect();
        Ok(Assembled::Batch(bytes, filter.apply(Batch::new(visible, cells), &matches, fields)))
    }

    /// What is to do for a batch, with the tiles for it at hand, and which cells needn't be read.
    fn works(&mut self, step: &Step) -> Result<(Vec<Work>, RuledOut)> {
        let threads = self.query.array.workers().threads();
        let works = if threads > 1 { 4 * threads } else { 1 };
        let least_cells = u128::from((LEAST_WORK / self.bytes_per_cell).max(1));
        let mut works = step.works(&self.shape, &self.layers, Division { works, least_cells });
        let out = self.filter.as_mut().map(|filter| filter.rule_out(&mut works)).transpose()?;
        self.fields.load(&works)?;
        Ok((works, out.unwrap_or_default()))
    }
}
