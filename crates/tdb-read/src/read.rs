//! From a query to batches of cells.

mod chunks;
mod parts;

use std::iter::FusedIterator;

use tdb_cells::{Batch, Workers};
use tdb_query::scan::{Scan, ScanCost};
use tdb_query::{CheckedQuery, FragmentPlan, FragmentsLeftOut, Plan, announce};
use tdb_schema::FieldRef;
use tdb_snapshot::{ArrayError, Result};
use tdb_storage::ReadAhead;
use tdb_types::ArrayType;

use crate::query::{Output, Query};
use chunks::Chunks;
use parts::Parts;

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
    /// The same with the number of cells that the caller wants, if it says one.
    chunks: Option<Chunks>,
    /// Why there are no more, to be said when those before it were given.
    failed: Option<ArrayError>,
    /// Whether a batch was given.
    begun: bool,
    /// Whether the reader has no more.
    drained: bool,
    ended: bool,
    /// Bytes that are on their way.
    ahead: Option<ReadAhead>,
}

#[derive(Debug)]
enum Reader {
    Dense(Box<tdb_dense::DenseReader>),
    Sparse(Box<tdb_sparse::SparseReader>),
}

impl Query {
    /// What reading would touch, found out without reading a cell.
    ///
    /// # Errors
    /// The query's parts don't go together, or metadata of a fragment can't be read.
    pub fn plan(&self) -> Result<Plan> {
        let (query, output) = self.check_with_output()?;
        plan(&query, &output)
    }

    /// Starts reading.
    ///
    /// # Errors
    /// As [`plan`](Self::plan); what goes wrong with cells, the iterator says.
    pub fn batches(self) -> Result<Batches> {
        let (query, output) = self.check_with_output()?;
        Batches::of(query, output)
    }
}

/// What a query would touch of fragments, and how many it leaves out.
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

/// What a query would touch.
fn plan(query: &CheckedQuery, output: &Output) -> Result<Plan> {
    let (fragments, left_out) = plan_fragments(query)?;
    let schema = query.array.schema();
    let shown = query.fields.iter().take(output.shown);
    let labels = output.labels.iter().map(|selected| selected.label.description().name.clone()).collect();
    let fields = shown.filter_map(|field| schema.field_name(*field).map(str::to_owned)).collect();
    Ok(Plan { order: query.order, fields, labels, fragments, left_out })
}

/// Has a scan look at the cells of a query, whose order is [unordered](tdb_cells::Order::Unordered).
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

/// The attributes of which only what holds a cell that fulfils the condition is unfiltered: all but its own.
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
                let ahead = announce(&query.array, query.memory.ahead, || Ok(tdb_dense::plan(&query)?.0))?;
                (Reader::Dense(Box::new(tdb_dense::DenseReader::new(query)?)), ahead)
            }
            ArrayType::Sparse => {
                let (reader, ahead) = tdb_sparse::SparseReader::new(query)?;
                (Reader::Sparse(Box::new(reader)), ahead)
            }
        };
        Ok(Self { reader, workers, parts, chunks, failed: None, begun: false, drained: false, ended: false, ahead })
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

impl Batches {
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
            // Nobody waits for what is still on its way.
            self.ahead = None;
            if let (None, Some(watch)) = (&part, self.workers.watch()) {
                watch.finish();
            }
        }
        part
    }
}
