//! From a query to batches of cells.

pub(crate) mod dense;
mod output;
mod pool;
pub(crate) mod sparse;
pub(crate) mod stream;

use tdb_types::ArrayType;

use crate::query::CheckedQuery;
use crate::workers::Workers;
use crate::{Batch, Result};

pub(crate) use output::{OutputField, pack_validity};
pub(crate) use pool::BufferPool;

/// The batches of a query's result, in its order.
///
/// Memory of a batch that was dropped before the next one is asked for is used again. After an error the iterator ends.
#[derive(Debug)]
pub struct Batches {
    reader: Reader,
    workers: Workers,
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
        let reader = match query.array.schema().array_type() {
            ArrayType::Dense => Reader::Dense(dense::DenseReader::new(query)?),
            ArrayType::Sparse => Reader::Sparse(sparse::SparseReader::new(query)?),
        };
        Ok(Self { reader, workers, begun: false, ended: false })
    }
}

impl Iterator for Batches {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
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
        batch
    }
}
