//! The stream of rows of a partition.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::DynamicFilterPhysicalExpr;
use datafusion::physical_plan::PhysicalExpr;
use datafusion::physical_plan::metrics::{BaselineMetrics, Count, MetricBuilder};
use datafusion::physical_plan::stream::{RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter};
use futures_util::{StreamExt, TryStreamExt, stream};
use tdb_array::{ArrayError, Monitor, Query, QueryPart};
use tdb_arrow::Conversion;

use super::Scan;
use crate::admission::Admission;
use crate::floats::with_one_nan;
use crate::options::LEAST_BUDGET;
use crate::{error, filter};

/// Number of batches read ahead.
const AHEAD: usize = 1;
/// Batch size in bytes. Small batches stay in CPU caches and reuse memory. A query of few rows only
/// waits for a small batch.
const BATCH: usize = 512 << 10;

/// State of the thread that reads a partition. Blocking is allowed there.
struct Run {
    scan: Scan,
    partition: usize,
    pool: Arc<dyn MemoryPool>,
    /// Maximum number of queries that share the pool.
    queries: usize,
    monitor: Monitor,
    baseline: BaselineMetrics,
    /// Number of tiles pruned by dynamic filters.
    pruned: Count,
}

/// Cancels the query when the stream is dropped.
struct CancelOnDrop(Monitor);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Opens the stream of a partition. Reads nothing before the first poll. By then, other parts of
/// the plan may have set dynamic filters.
pub(super) fn open(scan: &Scan, partition: usize, context: &TaskContext) -> SendableRecordBatchStream {
    let monitor = Monitor::only_cancelling();
    let run = Run {
        scan: scan.clone(),
        partition,
        pool: context.memory_pool().clone(),
        queries: context.session_config().get_extension::<Admission>().map_or(1, |admission| admission.most),
        monitor: monitor.clone(),
        baseline: BaselineMetrics::new(&scan.metrics, partition),
        pruned: MetricBuilder::new(&scan.metrics).counter("tiles_pruned_by_dynamic_filters", partition),
    };
    let schema = scan.schema.clone();
    let rows = stream::once(async move { Ok::<_, DataFusionError>(run.begin()) }).try_flatten();
    let guard = CancelOnDrop(monitor);
    let rows = rows.inspect(move |_| {
        // Moves the guard into the stream.
        let _ = &guard;
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

impl Run {
    fn begin(self) -> SendableRecordBatchStream {
        let schema: SchemaRef = self.scan.schema.clone();
        let mut builder = RecordBatchReceiverStreamBuilder::new(schema, AHEAD);
        let sender = builder.tx();
        builder.spawn_blocking(move || {
            let mut left = self.scan.fetch.unwrap_or(usize::MAX);
            self.read(|batch| {
                let batch = if batch.num_rows() > left { batch.slice(0, left) } else { batch };
                left -= batch.num_rows();
                sender.blocking_send(Ok(batch)).is_ok() && left > 0
            })
        });
        builder.build()
    }

    /// Emits batches until the end, or until the receiver is gone.
    fn read(&self, mut give: impl FnMut(RecordBatch) -> bool) -> Result<()> {
        if self.scan.fetch == Some(0) {
            return Ok(());
        }
        let parts = self.scan.parts()?;
        let reservation = MemoryConsumer::new(format!("scan of {:?}", self.scan.uri())).register(&self.pool);
        let wanted = self.scan.opened.options.budget.min(share(&self.pool.memory_limit(), self.queries * parts.len()));
        let budget = reserve(&reservation, wanted)?;
        let conversion = self.scan.opened.conversion(&self.scan.columns)?;
        for part in parts.get(self.partition).map_or(&[][..], Vec::as_slice) {
            match self.part(part, budget, &conversion, &mut give) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                // The receiver is gone.
                Err(_) if self.monitor.is_cancelled() => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        self.baseline.done();
        Ok(())
    }

    /// Reads one part. Returns `false` if no more batches are wanted.
    fn part(
        &self,
        part: &QueryPart,
        budget: usize,
        conversion: &Conversion,
        give: &mut impl FnMut(RecordBatch) -> bool,
    ) -> Result<bool> {
        let failed = |error: ArrayError| error::of_array(self.scan.uri(), error);
        let timer = self.baseline.elapsed_compute().timer();
        let query = part.query(&self.scan.opened.array).map_err(failed)?.monitor(&self.monitor).budget(budget);
        let query = query.batch_bytes(BATCH);
        let Some(query) = self.narrowed(query).map_err(failed)? else { return Ok(true) };
        let mut batches = query.batches().map_err(failed)?;
        drop(timer);
        loop {
            let timer = self.baseline.elapsed_compute().timer();
            let Some(batch) = batches.next() else { return Ok(true) };
            let batch = conversion.record_batch(batch.map_err(failed)?);
            let batch = with_one_nan(batch.map_err(|error| error::of_arrow(self.scan.uri(), error))?)?;
            drop(timer);
            self.baseline.record_output(batch.num_rows());
            if !give(batch) {
                return Ok(false);
            }
        }
    }

    /// Adds the current dynamic filters to the query. Returns `None` if no row can match.
    fn narrowed(&self, query: Query) -> Result<Option<Query>, ArrayError> {
        if self.scan.dynamic.is_empty() {
            return Ok(Some(query));
        }
        let now = self.scan.dynamic.iter().filter_map(current);
        let now = filter::all(now.map(|filter| filter::condition(&self.scan.opened, &filter)));
        let Some(pushed) = now.filter(|pushed| !filter::is_always(&pushed.condition)) else { return Ok(Some(query)) };
        let before = query.plan()?.tile_count();
        if filter::is_never(&pushed.condition) {
            self.pruned.add(before);
            return Ok(None);
        }
        let query = query.filter(pushed.condition);
        self.pruned.add(before.saturating_sub(query.plan()?.tile_count()));
        Ok(Some(query))
    }
}

/// Returns the current state of a filter.
fn current(filter: &Arc<dyn PhysicalExpr>) -> Option<Arc<dyn PhysicalExpr>> {
    match filter.downcast_ref::<DynamicFilterPhysicalExpr>() {
        Some(dynamic) => dynamic.current().ok(),
        None => datafusion::physical_expr_common::physical_expr::snapshot_physical_expr(filter.clone()).ok(),
    }
}

/// Returns the maximum memory of a partition: the partitions of all queries together get a quarter
/// of the pool, because the rest of a query needs memory it cannot reduce.
fn share(limit: &MemoryLimit, partitions: usize) -> usize {
    match limit {
        MemoryLimit::Finite(bytes) => (*bytes / 4 / partitions.max(1)).max(LEAST_BUDGET),
        MemoryLimit::Infinite | MemoryLimit::Unknown => usize::MAX,
    }
}

/// Reserves the wanted memory, or less if the pool has less. Returns the reserved size.
fn reserve(reservation: &MemoryReservation, wanted: usize) -> Result<usize> {
    let mut budget = wanted;
    loop {
        match reservation.try_grow(budget) {
            Ok(()) => return Ok(budget),
            Err(error) if budget <= LEAST_BUDGET => return Err(error),
            Err(_) => budget = (budget / 2).max(LEAST_BUDGET),
        }
    }
}
