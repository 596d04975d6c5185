//! Writing of rows to a dense array as subarrays: bands of whole tiles along the first dimension.
//!
//! Rows arrive in row-major order, sorted by the plan if necessary. Each row thus determines the
//! possible successors, and only rows of incomplete tiles stay in memory.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, RecordBatch};
use datafusion::arrow::compute::{SortOptions, concat_batches};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexRequirement, PhysicalSortRequirement};
use tdb_array::tdb_schema::ArraySchema;
use tdb_array::tdb_types::Scalar;
use tdb_array::{Array, AtomicWriter, Coordinate};

use super::rows::BoxRows;
use super::sink::InsertSink;
use crate::enumerations::Enumerations;
use crate::error;

/// Returns the required order of rows for a dense array, in terms of these columns. Returns `None`
/// for sparse arrays, which sort themselves.
///
/// # Errors
/// A dimension is missing.
pub(crate) fn row_major(schema: &ArraySchema, columns: &Schema) -> Result<Option<LexRequirement>> {
    if !schema.is_dense() {
        return Ok(None);
    }
    let ascending = SortOptions { descending: false, nulls_first: true };
    let sorted = schema.dimensions().iter().map(|dimension| {
        let column = Column::new_with_schema(dimension.name(), columns)?;
        Ok(PhysicalSortRequirement::new(Arc::new(column), Some(ascending)))
    });
    Ok(LexRequirement::new(sorted.collect::<Result<Vec<_>>>()?))
}

/// Rows to be written, and the state of the rows already written.
#[derive(Debug)]
pub(super) struct Bands {
    array: Array,
    uri: String,
    schema: SchemaRef,
    new: Option<Enumerations>,
    writer: AtomicWriter,
    rows: BoxRows,
    held: Vec<RecordBatch>,
    reservation: MemoryReservation,
}

impl Bands {
    /// Starts a write without rows.
    ///
    /// # Errors
    /// The write cannot start.
    pub(super) fn new(sink: &InsertSink, reservation: MemoryReservation) -> Result<Self> {
        let writer = sink.array.write().atomic().map_err(|error| error::of_array(&sink.uri, error))?;
        Ok(Self {
            array: sink.array.clone(),
            uri: sink.uri.clone(),
            schema: sink.schema.clone(),
            new: sink.new.clone(),
            writer,
            rows: BoxRows::new(&sink.uri, sink.array.schema()),
            held: Vec::new(),
            reservation,
        })
    }

    /// Adds rows. Writes complete tiles above `enough` bytes, or if memory runs out. Blocks.
    ///
    /// # Errors
    /// The rows do not form a subarray, the array cannot hold them, or a band does not fit in
    /// memory.
    pub(super) fn push(&mut self, batch: RecordBatch, enough: usize) -> Result<()> {
        self.rows.follow(&self.coordinates(&batch)?)?;
        let size = size(&batch);
        self.held.push(batch);
        if self.reservation.try_grow(size).is_err() {
            self.flush(self.rows.complete())?;
        }
        if self.reservation.size() >= enough.saturating_mul(2) { self.flush(self.rows.complete()) } else { Ok(()) }
    }

    /// Writes the remaining rows, and commits. Returns the number of rows. Blocks.
    ///
    /// # Errors
    /// Rows are missing, or the array cannot hold them.
    pub(super) fn finish(mut self) -> Result<u64> {
        self.rows.finish()?;
        self.flush(self.rows.held())?;
        let written = self.writer.commit().map_err(|error| error::of_array(&self.uri, error))?;
        Ok(written.cells)
    }

    /// Writes the first `count` rows, which form a subarray, as an uncommitted fragment.
    fn flush(&mut self, count: usize) -> Result<()> {
        let (mut first, mut rest, mut left) = (Vec::new(), Vec::new(), count);
        for batch in std::mem::take(&mut self.held) {
            let taken = left.min(batch.num_rows());
            left -= taken;
            first.push(batch.slice(0, taken));
            if taken < batch.num_rows() {
                rest.push(batch.slice(taken, batch.num_rows() - taken));
            }
        }
        self.held = rest;
        if count > 0 {
            self.write(first, count)?;
        }
        let left = self.held.iter().map(size).fold(0, usize::saturating_add);
        self.reservation.try_resize(left).map_err(|error| {
            let what = "is dense: the rows of an INSERT in the same tiles of the first dimension must fit in memory";
            error.context(format!("table {:?} {what}", self.uri))
        })
    }

    /// Writes the first `count` held rows.
    fn write(&mut self, batches: Vec<RecordBatch>, count: usize) -> Result<()> {
        let rows = concat_batches(&self.schema, &batches)?;
        drop(batches);
        if let Some(new) = &self.new {
            self.array = new.with_values(&self.uri, self.array.clone(), &rows)?;
        }
        let attributes: Vec<usize> = (self.array.schema().dim_count()..rows.num_columns()).collect();
        let rows = rows.project(&attributes)?;
        let cells = tdb_arrow::cells(&rows, &self.array).map_err(|error| error::of_arrow(&self.uri, error))?;
        let sides = self.rows.take(count).into_iter();
        let sides = sides.map(|(first, last)| Coordinate::Integer(first)..=Coordinate::Integer(last));
        self.writer.push_box(sides, cells).map_err(|error| error::of_array(&self.uri, error))
    }

    /// Returns the coordinates of rows by dimension, in units of the array.
    fn coordinates(&self, rows: &RecordBatch) -> Result<Vec<Vec<i128>>> {
        let dimensions = self.array.schema().dimensions();
        let rows = rows.project(&(0..dimensions.len()).collect::<Vec<_>>())?;
        let cells = tdb_arrow::cells(&rows, &self.array).map_err(|error| error::of_arrow(&self.uri, error))?;
        let columns = cells.columns().zip(dimensions).map(|((name, column), dimension)| {
            let physical = dimension.physical();
            let values = column.as_bytes().chunks_exact(physical.size());
            let values = values.map(|bytes| Scalar::from_le_bytes(physical, bytes)?.to_integer());
            let refused =
                || error::plan(format!("dimension {name:?} of a dense array has coordinates that are not integers"));
            values.collect::<Option<Vec<_>>>().ok_or_else(refused)
        });
        columns.collect()
    }
}

/// Returns the memory of rows in bytes, doubled for the copy during the write. Slices count only
/// their part.
fn size(rows: &RecordBatch) -> usize {
    let column = |column: &ArrayRef| {
        let part = column.to_data().get_slice_memory_size();
        part.unwrap_or_else(|_| column.get_array_memory_size())
    };
    rows.columns().iter().map(column).fold(0, usize::saturating_add).saturating_mul(2)
}
