//! Rows as boxes of a dense array, in bands of whole tiles along its first dimension.
//!
//! Rows come in row-major order: the plan sorts them where they don't. So each row says where the next one may be, and no more is held than the
//! rows of the tiles that aren't complete yet.

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
use tdb_array::{Array, Coordinate, TogetherWriter};

use super::rows::BoxRows;
use super::sink::InsertSink;
use crate::enumerations::Enumerations;
use crate::error;

/// The order that rows of a dense array are written in, as columns of these; none of a sparse one, which sorts them itself.
///
/// # Errors
/// A dimension that isn't among them.
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

/// Rows that wait to be written, and what was written of those before them.
#[derive(Debug)]
pub(super) struct Bands {
    array: Array,
    uri: String,
    schema: SchemaRef,
    new: Option<Enumerations>,
    writer: TogetherWriter,
    rows: BoxRows,
    held: Vec<RecordBatch>,
    reservation: MemoryReservation,
}

impl Bands {
    /// Nothing yet.
    ///
    /// # Errors
    /// Writing can't begin.
    pub(super) fn new(sink: &InsertSink, reservation: MemoryReservation) -> Result<Self> {
        let writer = sink.array.write().together().map_err(|error| error::of_array(&sink.uri, error))?;
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

    /// Takes the next rows, and writes what is complete if there is enough of it, or no room for more. It blocks.
    ///
    /// # Errors
    /// They are no box; the array can't hold them; there is no room for the rows of one band.
    pub(super) fn push(&mut self, batch: RecordBatch, enough: usize) -> Result<()> {
        self.rows.follow(&self.coordinates(&batch)?)?;
        let size = size(&batch);
        self.held.push(batch);
        if self.reservation.try_grow(size).is_err() {
            self.flush(self.rows.complete())?;
        }
        if self.reservation.size() >= enough.saturating_mul(2) { self.flush(self.rows.complete()) } else { Ok(()) }
    }

    /// Writes the rest, and makes all of it part of the array. It blocks. Gives how many rows there were.
    ///
    /// # Errors
    /// Rows are missing; the array can't hold them.
    pub(super) fn finish(mut self) -> Result<u64> {
        self.rows.finish()?;
        self.flush(self.rows.held())?;
        let written = self.writer.commit().map_err(|error| error::of_array(&self.uri, error))?;
        Ok(written.cells)
    }

    /// Writes the first of the rows, which are a box, as a fragment that nobody sees yet.
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
            let what = "is dense: the rows of an INSERT that lie in the same tiles of its first dimension have to fit in memory";
            error.context(format!("table {:?} {what}", self.uri))
        })
    }

    /// Writes these rows, which are the first `count` that are held.
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

    /// For each dimension the coordinates of rows, in the units of the array.
    fn coordinates(&self, rows: &RecordBatch) -> Result<Vec<Vec<i128>>> {
        let dimensions = self.array.schema().dimensions();
        let rows = rows.project(&(0..dimensions.len()).collect::<Vec<_>>())?;
        let cells = tdb_arrow::cells(&rows, &self.array).map_err(|error| error::of_arrow(&self.uri, error))?;
        let columns = cells.columns().zip(dimensions).map(|((name, column), dimension)| {
            let physical = dimension.physical();
            let values = column.as_bytes().chunks_exact(physical.size());
            let values = values.map(|bytes| Scalar::from_le_bytes(physical, bytes)?.to_integer());
            let refused = || error::plan(format!("dimension {name:?} of a dense array has no integers"));
            values.collect::<Option<Vec<_>>>().ok_or_else(refused)
        });
        columns.collect()
    }
}

/// How many bytes rows take: they are there twice while they are written. Of parts of larger batches only the part counts.
fn size(rows: &RecordBatch) -> usize {
    let column = |column: &ArrayRef| {
        let part = column.to_data().get_slice_memory_size();
        part.unwrap_or_else(|_| column.get_array_memory_size())
    };
    rows.columns().iter().map(column).fold(0, usize::saturating_add).saturating_mul(2)
}
