//! INSERT INTO. Writes are atomic.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::SchemaExt;
use datafusion::datasource::sink::{DataSink, DataSinkExec};
use datafusion::error::Result;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::dml::InsertOp;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan};
use futures_util::TryStreamExt;
use tdb_array::{AtomicWriter, Duplicates};

use super::dense::{Bands, row_major};
use super::sink::InsertSink;
use crate::error;
use crate::opened::Opened;

/// Approximate size of a fragment in bytes.
const FRAGMENT: usize = 128 << 20;

/// Creates the plan that writes rows into an array.
///
/// # Errors
/// The columns differ, the array is opened at a fixed time, or the array does not support the
/// operation.
pub(crate) fn insert(
    opened: &Arc<Opened>,
    input: Arc<dyn ExecutionPlan>,
    operation: InsertOp,
) -> Result<Arc<dyn ExecutionPlan>> {
    opened.schema.logically_equivalent_names_and_types(&input.schema())?;
    let schema = opened.array_schema();
    match operation {
        InsertOp::Append => {}
        // New cells replace cells with the same coordinates.
        InsertOp::Replace if !schema.allows_duplicates() => {}
        InsertOp::Replace => {
            return Err(error::plan(format!(
                "{:?} allows duplicates, so that REPLACE INTO cannot identify the cells to replace",
                opened.uri
            )));
        }
        InsertOp::Overwrite => {
            return Err(error::plan("INSERT OVERWRITE is not supported by arrays; delete the cells first"));
        }
    }
    refuse_past(opened, "INSERT")?;
    let order = row_major(schema, &input.schema())?;
    let (array, uri, schema) = (opened.array.clone(), opened.uri.clone(), opened.schema.clone());
    let sink = InsertSink::new(array, uri, schema, None);
    Ok(Arc::new(DataSinkExec::new(input, Arc::new(sink), order)))
}

/// Rejects changes to an array opened at a fixed time.
pub(super) fn refuse_past(opened: &Opened, statement: &str) -> Result<()> {
    match opened.options.time {
        None => Ok(()),
        Some(_) => {
            Err(error::plan(format!("{statement}: {:?} is opened at a fixed time; leave out the time", opened.uri)))
        }
    }
}

impl DisplayAs for InsertSink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "insert into array={}", self.uri)
    }
}

#[async_trait]
impl DataSink for InsertSink {
    fn schema(&self) -> &SchemaRef {
        self.accepted()
    }

    async fn write_all(&self, data: SendableRecordBatchStream, context: &Arc<TaskContext>) -> Result<u64> {
        let consumer = MemoryConsumer::new(format!("INSERT INTO {:?}", self.uri));
        let reservation = consumer.register(context.memory_pool());
        if self.array.schema().is_dense() {
            return self.write_dense(data, reservation).await;
        }
        self.write_sparse(data, Rows { held: Vec::new(), bytes: 0, reservation }).await
    }
}

/// Rows to be written.
struct Rows {
    held: Vec<RecordBatch>,
    bytes: usize,
    reservation: MemoryReservation,
}

impl Rows {
    /// Reserves memory for more rows, doubled for the copy during the write.
    fn make_room(&self, batch: &RecordBatch) -> Result<()> {
        self.reservation.try_grow(batch.get_array_memory_size().saturating_mul(2))
    }

    fn push(&mut self, batch: RecordBatch) {
        self.bytes += batch.get_array_memory_size();
        self.held.push(batch);
    }

    /// Takes all rows as one batch.
    fn take(&mut self, schema: &SchemaRef) -> Result<RecordBatch> {
        let held = std::mem::take(&mut self.held);
        self.bytes = 0;
        Ok(concat_batches(schema, &held)?)
    }
}

impl InsertSink {
    async fn write_sparse(&self, mut data: SendableRecordBatchStream, mut rows: Rows) -> Result<u64> {
        let mut write = self.array.write();
        if !self.array.schema().allows_duplicates() {
            write = write.duplicates(Duplicates::KeepLast);
        }
        let mut writer = write.atomic().map_err(|error| error::of_array(&self.uri, error))?;
        let mut count = 0;
        while let Some(batch) = data.try_next().await? {
            if batch.num_rows() == 0 {
                continue;
            }
            self.check_nulls(&batch)?;
            count += batch.num_rows() as u64;
            if let Err(error) = rows.make_room(&batch) {
                // Writes the held rows first, to free their memory.
                if rows.held.is_empty() {
                    return Err(error);
                }
                writer = self.flush(writer, &mut rows).await?;
                rows.make_room(&batch)?;
            }
            rows.push(batch);
            if rows.bytes >= FRAGMENT {
                writer = self.flush(writer, &mut rows).await?;
            }
        }
        if !rows.held.is_empty() {
            writer = self.flush(writer, &mut rows).await?;
        }
        let uri = self.uri.clone();
        let committed = move || writer.commit().map_err(|error| error::of_array(&uri, error));
        error::blocking(committed).await?;
        Ok(count)
    }

    /// Writes the held rows as an uncommitted fragment.
    async fn flush(&self, mut writer: AtomicWriter, rows: &mut Rows) -> Result<AtomicWriter> {
        let batch = rows.take(&self.schema)?;
        let (mut array, uri, new) = (self.array.clone(), self.uri.clone(), self.new.clone());
        let write = move || {
            if let Some(new) = new {
                array = new.with_values(&uri, array, &batch)?;
            }
            let cells = tdb_arrow::cells(&batch, &array).map_err(|error| error::of_arrow(&uri, error))?;
            writer.push(cells).map_err(|error| error::of_array(&uri, error))?;
            Ok(writer)
        };
        let writer = error::blocking(write).await?;
        rows.reservation.free();
        Ok(writer)
    }

    async fn write_dense(&self, mut data: SendableRecordBatchStream, reservation: MemoryReservation) -> Result<u64> {
        let mut bands = Bands::new(self, reservation)?;
        while let Some(batch) = data.try_next().await? {
            self.check_nulls(&batch)?;
            let pushed = move || bands.push(batch, FRAGMENT).map(|()| bands);
            bands = error::blocking(pushed).await?;
        }
        error::blocking(move || bands.finish()).await
    }
}
