//! Batches of a query's result.

mod chunks;
mod parts;

use std::iter::FusedIterator;

use tdb_cells::{Batch, Workers};
use tdb_query::scan::{Scan, ScanCost};
use tdb_query::{CheckedQuery, FragmentPlan, FragmentsLeftOut, Plan};
use tdb_schema::FieldRef;
use tdb_snapshot::{ArrayError, Result};
use tdb_storage::ReadAhead;
use tdb_types::ArrayType;

use crate::query::{Output, Query};
use chunks::Chunks;
use parts::Parts;

/// An iterator over the batches of a query's result, in the query's order.
///
/// Memory of a batch is reused if the batch is dropped before the next call. The iterator ends
/// after an error.
///
/// With a small [budget](crate::Query::budget), batches may be slices of a larger batch, built at
/// once to avoid repeated unfiltering of tiles. Holding such a batch keeps the memory of the whole
/// larger batch.
#[derive(Debug)]
pub struct Batches {
    reader: Reader,
    workers: Workers,
    /// Batches of the requested size in bytes, with the columns of labels.
    parts: Parts,
    /// Batches of the requested number of cells, if set.
    chunks: Option<Chunks>,
    /// An error to return after the batches read before the error.
    failed: Option<ArrayError>,
    /// `true` after the first batch.
    begun: bool,
    /// `true` if the reader has no further batches.
    drained: bool,
    ended: bool,
    /// The prefetched bytes.
    ahead: Option<ReadAhead>,
}

#[derive(Debug)]
enum Reader {
    Dense(Box<tdb_dense::DenseReader>),
    Sparse(Box<tdb_sparse::SparseReader>),
}

impl Query {
    /// Returns the plan of the query, without reading cells.
    ///
    /// # Errors
    /// The query is invalid (see [`check`](Self::check)), or fragment metadata cannot be read.
    pub fn plan(&self) -> Result<Plan> {
        let (query, output) = self.check_with_output()?;
        plan(&query, &output)
    }

    /// Starts reading.
    ///
    /// # Errors
    /// The same as [`plan`](Self::plan). The iterator returns the errors of reading cells.
    pub fn batches(self) -> Result<Batches> {
        let (query, output) = self.check_with_output()?;
        Batches::of(query, output)
    }
}

/// Returns the plans of the relevant fragments, and the number of skipped fragments.
pub(crate) fn plan_fragments(query: &CheckedQuery) -> Result<(Vec<FragmentPlan>, FragmentsLeftOut)> {
    let (mut fragments, mut left_out) = match query.array.schema().array_type() {
        ArrayType::Dense => tdb_dense::plan(query)?,
        ArrayType::Sparse => tdb_sparse::plan(query)?,
    };
    left_out.time = query.array.directory().of_other_times;
    let late = late(query);
    for fragment in &mut fragments {
        let is_read = |name: &&String| fragment.reads.iter().any(|reads| reads.field == **name && reads.bytes() > 0);
        fragment.late = late.iter().filter(is_read).cloned().collect();
    }
    Ok((fragments, left_out))
}

/// Returns the plan of the query.
fn plan(query: &CheckedQuery, output: &Output) -> Result<Plan> {
    let (fragments, left_out) = plan_fragments(query)?;
    let schema = query.array.schema();
    let shown = query.fields.iter().take(output.shown);
    let labels = output.labels.iter().map(|selected| selected.label.description().name.clone()).collect();
    let fields = shown.filter_map(|field| schema.field_name(*field).map(str::to_owned)).collect();
    Ok(Plan { order: query.order, fields, labels, fragments, left_out })
}

/// Runs a scan over the cells of a query with [unordered](tdb_cells::Order::Unordered) order.
pub(crate) fn scan<S: Scan>(query: CheckedQuery, scan: &mut S) -> Result<ScanCost> {
    let workers = query.array.workers().clone();
    let cost = match query.array.schema().array_type() {
        ArrayType::Dense => tdb_dense::scan(query, scan)?,
        ArrayType::Sparse => tdb_sparse::scan(query, scan)?,
    };
    if let Some(watch) = workers.watch() {
        watch.finish();
    }
    Ok(cost)
}

/// Returns the selected attributes with late materialization: all except the attributes in the
/// condition. Empty without a condition.
fn late(query: &CheckedQuery) -> Vec<String> {
    let Some(filter) = &query.filter else { return Vec::new() };
    let schema = query.array.schema();
    let is_late = |field: &&FieldRef| {
        matches!(field, FieldRef::Attribute(_)) && !filter.fields().iter().any(|needed| needed.field == **field)
    };
    let fields = query.fields.iter().filter(is_late);
    fields.filter_map(|field| schema.field_name(*field).map(str::to_owned)).collect()
}

impl Batches {
    pub(crate) fn of(query: CheckedQuery, output: Output) -> Result<Self> {
        let workers = query.array.workers().clone();
        let parts = Parts::new(output.labels, output.shown, &query.memory);
        let chunks = output.batch_cells.map(|cells| Chunks::new(cells, query.memory.part));
        let (reader, ahead) = match query.array.schema().array_type() {
            ArrayType::Dense => {
                let mut reader = Box::new(tdb_dense::DenseReader::new(query)?);
                let ahead = reader.read_ahead()?;
                (Reader::Dense(reader), ahead)
            }
            ArrayType::Sparse => {
                let (reader, ahead) = tdb_sparse::SparseReader::new(query)?;
                (Reader::Sparse(Box::new(reader)), ahead)
            }
        };
        Ok(Self { reader, workers, parts, chunks, failed: None, begun: false, drained: false, ended: false, ahead })
    }

    /// Reads the next batch.
    fn read_next(&mut self) -> Result<Option<Batch>> {
        let batch = match &mut self.reader {
            Reader::Dense(reader) => reader.next_batch(),
            // After the first batch the result is known to be large. Running on the array's thread
            // pool avoids waking a thread for each step.
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

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        self.workers.check()?;
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.chunks.is_none() {
            return self.next_part();
        }
        loop {
            if let Some(batch) = self.chunks.as_mut().and_then(Chunks::next) {
                return Ok(Some(batch));
            }
            let part = if self.drained { Ok(None) } else { self.next_part() };
            let Some(chunks) = &mut self.chunks else { return part };
            match part {
                Ok(Some(part)) => chunks.push(part),
                Ok(None) => {
                    self.drained = true;
                    return Ok(chunks.finish());
                }
                Err(error @ ArrayError::Cancelled) => return Err(error),
                Err(error) => match chunks.finish() {
                    Some(batch) => {
                        self.failed = Some(error);
                        return Ok(Some(batch));
                    }
                    None => return Err(error),
                },
            }
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
        let part = self.next_batch().transpose();
        self.ended = !matches!(part, Some(Ok(_)));
        if self.ended {
            // The prefetched bytes are no longer needed.
            self.ahead = None;
            if let (None, Some(watch)) = (&part, self.workers.watch()) {
                watch.finish();
            }
        }
        part
    }
}
