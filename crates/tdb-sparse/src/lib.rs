#![doc = include_str!("../README.md")]

// A query first selects candidate tiles: the tiles that may hold matching cells. An *engine* then
// determines the next cells as runs of cells within tiles: `Stream` emits tile after tile, `Merge`
// merges fragments in global order, and `Slabs` sorts cells. Stored order is never trusted.
// `InOrder` checks the cells of a single fragment and then emits them unsorted. The runs collected
// in the `RunQueue` become a batch. Only then are the selected fields unfiltered, and only in
// contributing tiles.

mod boxed;
mod cells;
mod choice;
mod conditions;
mod context;
mod engine;
mod gather;
mod held;
mod in_order;
mod keyed;
mod mask;
mod merge;
mod neighbours;
mod plan;
mod prune;
mod scan;
mod selected;
mod slabs;
mod source;
mod spares;
mod stored_order;
mod stream;
mod table;

use tdb_cells::Batch;
use tdb_query::{CheckedQuery, announce};
use tdb_snapshot::Result;
use tdb_storage::ReadAhead;

use context::Context;
use engine::Engine;
use gather::{Gathered, Gatherer};
use in_order::{InOrder, Next};
use table::{Run, RunQueue, TileTable};

pub use neighbours::each_pair;
pub use plan::plan;
pub use scan::scan;
pub use source::may_intersect;

/// A reader for the cells of a sparse array, batch by batch.
#[derive(Debug)]
pub struct SparseReader {
    context: Context,
    /// Emits the first cells, or all, while the stored order appears to be the requested order.
    in_order: Option<Box<InOrder>>,
    engine: Box<dyn Engine>,
    tiles: TileTable,
    queue: RunQueue,
    /// Cells of the last batch. Kept to reuse the memory.
    runs: Vec<Run>,
    gatherer: Gatherer,
}

impl SparseReader {
    /// Plans the read. On storage with high latency, the bytes of the planned tiles are prefetched
    /// until the [`ReadAhead`] is dropped.
    ///
    /// # Errors
    /// The metadata of a fragment cannot be read, or the query was cancelled.
    pub fn new(query: CheckedQuery) -> Result<(Self, Option<ReadAhead>)> {
        let bytes_ahead = query.memory.ahead;
        let (context, mut choice) = plan::begin(query, false)?;
        let ahead = announce(&context.array, bytes_ahead, || plan::read_plan(&context, &choice))?;
        let in_order = match std::mem::take(&mut choice.in_order) {
            tiles if tiles.is_empty() => None,
            tiles => Some(Box::new(InOrder::new(&context, tiles)?)),
        };
        let engine = choice::engine(&context, choice)?;
        Ok((Self::of(context, in_order, engine), ahead))
    }

    fn of(context: Context, in_order: Option<Box<InOrder>>, engine: Box<dyn Engine>) -> Self {
        Self {
            context,
            in_order,
            engine,
            tiles: TileTable::default(),
            queue: RunQueue::default(),
            runs: Vec::new(),
            gatherer: Gatherer::default(),
        }
    }

    /// Returns the next batch, or `None` after the last batch.
    ///
    /// # Errors
    /// A tile cannot be read or unfiltered, exceeds the limits, or the query was cancelled.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        let Gathered { batch, has_passing } = match &mut self.in_order {
            Some(in_order) => {
                match in_order.next(&self.context, &mut self.tiles, &mut self.queue, &mut self.gatherer)? {
                    Next::Batch(batch) => batch,
                    Next::End => return Ok(None),
                    Next::Disorder => {
                        (self.tiles, self.queue) = (TileTable::default(), RunQueue::default());
                        self.engine = choice::merging(&self.context, &in_order.rest())?;
                        self.in_order = None;
                        return self.next_batch();
                    }
                }
            }
            None => {
                if self.queue.is_empty() && !self.engine.fill(&self.context, &mut self.tiles, &mut self.queue)? {
                    return Ok(None);
                }
                self.runs.clear();
                let threads = self.context.array.workers().threads();
                self.queue.take(&mut self.tiles, self.context.budget, threads, &mut self.runs);
                self.gatherer.gather(&self.context, &mut self.tiles, &self.runs)?
            }
        };
        if has_passing {
            self.context.grow_budget();
        }
        Ok(Some(batch))
    }
}

#[cfg(test)]
mod tests;
