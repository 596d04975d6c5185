//! From a query to batches of cells.

pub(crate) mod dense;
mod output;
mod parts;
mod pool;
pub(crate) mod sparse;
pub(crate) mod stream;

use std::iter::FusedIterator;

use tdb_storage::ReadAhead;
use tdb_types::ArrayType;

use crate::query::{CheckedQuery, default_budget};
use crate::workers::Workers;
use crate::{Batch, Result};
use parts::Parts;

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
    /// Batches in the size that the caller wants, with the columns of labels.
    parts: Parts,
    /// Whether a batch was given.
    begun: bool,
    ended: bool,
    /// Bytes that are on their way.
    _ahead: Option<ReadAhead>,
}

#[derive(Debug)]
enum Reader {
    Dense(dense::DenseReader),
    Sparse(sparse::SparseReader),
}

impl Batches {
    pub(crate) fn of(query: CheckedQuery) -> Result<Self> {
        let workers = query.array.workers().clone();
        // Nobody else bounds what labels make of a batch.
        let default = || match query.labels.is_empty() {
            true => usize::MAX,
            false => default_budget(4 << 20, workers.threads()),
        };
        let budget = query.budget.unwrap_or_else(default);
        let parts = Parts::new(query.labels.clone(), query.shown, budget);
        let ahead = query.array.read_ahead(&query)?;
        let reader = match query.array.schema().array_type() {
            ArrayType::Dense => Reader::Dense(dense::DenseReader::new(query)?),
            ArrayType::Sparse => Reader::Sparse(sparse::SparseReader::new(query)?),
        };
        Ok(Self { reader, workers, parts, begun: false, ended: false, _ahead: ahead })
    }

    /// The next batch that is read.
    fn read_next(&mut self) -> Result<Option<Batch>> {
        let batch = match &mut self.reader {
            Reader::Dense(reader) => reader.next_batch(),
            // The result is large: the array's threads take over, so that none has to be woken for each step.
            Reader::Sparse(reader) if self.begun => self.workers.install(|| reader.next_batch()),
            Reader::Sparse(reader) => reader.next_batch(),
        };
        self.begun = true;
        batch
    }

    fn next_part(&mut self) -> Result<Option<Batch>> {
        if let Some(part) = self.parts.next()? {
            return Ok(Some(part));
        }
        match self.read_next()? {
            Some(batch) => {
                self.parts.push(batch);
                self.parts.next()
            }
            None => Ok(None),
        }
    }
}

impl FusedIterator for Batches {}

impl Iterator for Batches {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let part = self.next_part().transpose();
        self.ended = !matches!(part, Some(Ok(_)));
        part
    }
}
