//! From a query to batches of cells.

pub(crate) mod dense;
mod labels;
mod output;
mod pool;
pub(crate) mod sparse;
pub(crate) mod stream;

use tdb_types::ArrayType;

use crate::query::CheckedQuery;
use crate::workers::Workers;
use crate::{Batch, Result};
use labels::LabelColumns;

pub(crate) use output::{OutputField, pack_validity};
pub(crate) use pool::BufferPool;

/// The batches of a query's result, in its order.
///
/// Memory of a batch that was dropped before the next one is asked for is used again. After an error the iterator ends.
///
/// Batches of a small [budget](crate::Query::budget) may be parts of a larger one, which was put together at once lest its
/// tiles are unfiltered for each of them: while one of them is held, so is the memory of its values in all of them.
#[derive(Debug)]
pub struct Batches {
    reader: Reader,
    workers: Workers,
    labels: LabelColumns,
    /// Bytes that a batch may take, if the caller has said so.
    budget: Option<usize>,
    /// A batch that is given in parts, and how many of its cells were given.
    parts: Option<(Batch, usize)>,
    /// Whether a batch was given.
    begun: bool,
    ended: bool,
}

#[derive(Debug)]
enum Reader {
    Dense(dense::DenseReader),
    Sparse(sparse::SparseReader),
}

impl Batches {
    pub(crate) fn of(query: CheckedQuery) -> Result<Self> {
        let workers = query.array.workers().clone();
        let budget = query.budget;
        let labels = LabelColumns::new(query.labels.clone(), query.shown);
        let reader = match query.array.schema().array_type() {
            ArrayType::Dense => Reader::Dense(dense::DenseReader::new(query)?),
            ArrayType::Sparse => Reader::Sparse(sparse::SparseReader::new(query)?),
        };
        Ok(Self { reader, workers, labels, budget, parts: None, begun: false, ended: false })
    }

    /// The next batch that is read, or the first part of it.
    fn read_next(&mut self) -> Option<Result<Batch>> {
        if self.ended {
            return None;
        }
        let batch = match &mut self.reader {
            Reader::Dense(reader) => reader.next_batch(),
            // The result is large: the array's threads take over, so that none has to be woken for each step.
            Reader::Sparse(reader) if self.begun => self.workers.install(|| reader.next_batch()),
            Reader::Sparse(reader) => reader.next_batch(),
        };
        let batch = batch.transpose();
        self.begun = true;
        self.ended = !matches!(batch, Some(Ok(_)));
        batch.map(|batch| Ok(self.divided(batch?)))
    }

    /// The next part of the batch at hand; none if there is no more.
    fn next_part(&mut self) -> Option<Batch> {
        let (batch, given) = self.parts.take()?;
        let budget = self.budget.unwrap_or(usize::MAX);
        let end = given + batch.fitting(given, budget);
        let part = batch.slice(given..end);
        self.parts = (end < batch.len()).then_some((batch, end));
        Some(part)
    }

    /// The batch, or if it is larger than the caller wants them, its first part.
    fn divided(&mut self, batch: Batch) -> Batch {
        // A little more than wanted is less trouble than a second, small batch.
        match self.budget {
            Some(budget) if batch.len() > 1 && batch.memory() > budget.saturating_add(budget / 4) => {
                let first = batch.fitting(0, budget);
                let part = batch.slice(0..first);
                self.parts = (first < batch.len()).then_some((batch, first));
                part
            }
            _ => batch,
        }
    }
}

impl Iterator for Batches {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.next_part().map(Ok).or_else(|| self.read_next())?;
        let batch = batch.and_then(|batch| self.labels.insert(batch));
        if batch.is_err() {
            (self.parts, self.ended) = (None, true);
        }
        Some(batch)
    }
}
