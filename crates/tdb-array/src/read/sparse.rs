//! Reading sparse arrays.
//!
//! A query first finds the tiles that may hold wanted cells. An *engine* then says which cells come next, as runs of cells
//! of tiles: [`Stream`] where tiles follow one another, [`Merge`] where fragments have to be merged in global order,
//! [`Slabs`] where cells have to be sorted. What runs have gathered in the [`RunQueue`] becomes a batch, for which the
//! selected fields are unfiltered only now, and only of tiles that contribute.

mod cells;
mod choice;
mod conditions;
mod context;
mod gather;
mod keyed;
mod merge;
mod plan;
mod slabs;
mod source;
mod spares;
mod stored_order;
mod stream;
mod table;

use std::fmt;

use crate::query::CheckedQuery;
use crate::{Batch, Result};
use context::Context;
use gather::{Gathered, Gatherer};
use table::{Run, RunQueue, TileTable};

pub(crate) use plan::plan;

/// Reads the cells of a sparse array, batch by batch.
#[derive(Debug)]
pub(crate) struct SparseReader {
    context: Context,
    engine: Box<dyn Engine>,
    tiles: TileTable,
    queue: RunQueue,
    /// The cells of the last batch.
    runs: Vec<Run>,
    gatherer: Gatherer,
}

/// Says which cells come next.
trait Engine: fmt::Debug + Send {
    /// Appends runs to the empty `queue`, as many as fill a batch if possible; false if there are no more cells.
    fn fill(&mut self, context: &Context, tiles: &mut TileTable, queue: &mut RunQueue) -> Result<bool>;
}

impl SparseReader {
    pub(crate) fn new(query: CheckedQuery) -> Result<Self> {
        let context = Context::new(query)?;
        let engine = choice::engine(&context)?;
        Ok(Self {
            context,
            engine,
            tiles: TileTable::default(),
            queue: RunQueue::default(),
            runs: Vec::new(),
            gatherer: Gatherer::default(),
        })
    }

    /// The next batch; none after the last one.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>> {
        if self.queue.is_empty() && !self.engine.fill(&self.context, &mut self.tiles, &mut self.queue)? {
            return Ok(None);
        }
        self.runs.clear();
        self.queue.take(&mut self.tiles, self.context.budget, &mut self.runs);
        let Gathered { batch, has_passing } = self.gatherer.gather(&self.context, &mut self.tiles, &self.runs)?;
        if has_passing {
            self.context.grow_budget();
        }
        Ok(Some(batch))
    }
}

#[cfg(test)]
mod tests;
