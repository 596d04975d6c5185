//! Array scans in plans for other processes.
//!
//! A scheduler gives each task some partitions of a plan, and restricts the plan to them. The
//! scheduler can only restrict known sources. An unknown source would stay unchanged, and every
//! task would read all partitions. A scan is therefore sent as two nodes. The lower node is a table
//! in memory with one row per partition, the serialized query parts. The scheduler restricts it
//! like any table. The upper node, [`ScanPartsExec`], reads the rows of a partition, and returns
//! the cells.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::source::DataSource as _;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties as _, PlanProperties,
};
use futures_util::{TryStreamExt as _, stream};
use tdb_datafusion::ScanPieces;

use crate::arrays::{Arrays, told};
use crate::wire::Header;

/// A scan of an array. Its input contains the query parts of each partition.
#[derive(Debug)]
pub(crate) struct ScanPartsExec {
    header: Header,
    input: Arc<dyn ExecutionPlan>,
    /// Opens arrays. `None` in clients and schedulers.
    arrays: Option<Arc<Arrays>>,
    properties: Arc<PlanProperties>,
    metrics: Opened,
}

/// Metrics of the opened scans.
type Opened = Arc<Mutex<Vec<ExecutionPlanMetricsSet>>>;

/// Returns the schema of the rows with query parts.
pub(crate) fn row_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("parts", DataType::Binary, false)]))
}

impl ScanPartsExec {
    /// Creates a scan of the query parts in `input`.
    ///
    /// # Errors
    /// The input has another schema.
    pub(crate) fn new(header: Header, input: Arc<dyn ExecutionPlan>, arrays: Option<Arc<Arrays>>) -> Result<Arc<Self>> {
        if input.schema().fields() != row_schema().fields() {
            let message = format!("expected binary rows as the parts of a scan, found {}", input.schema());
            return Err(DataFusionError::Execution(message));
        }
        let properties = properties(&header, input.output_partitioning().partition_count());
        Ok(Arc::new(Self { header, input, arrays, properties: Arc::new(properties), metrics: Opened::default() }))
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }
}

fn properties(header: &Header, partitions: usize) -> PlanProperties {
    let orders = header.orders.iter().map(|order| {
        let by = |(column, options): &(u32, _)| {
            let name = header.schema.field(*column as usize).name();
            PhysicalSortExpr::new(Arc::new(Column::new(name, *column as usize)), *options)
        };
        order.iter().map(by).collect::<Vec<_>>()
    });
    let known = EquivalenceProperties::new_with_orderings(header.schema.clone(), orders);
    let partitioning = Partitioning::UnknownPartitioning(partitions);
    PlanProperties::new(known, partitioning, EmissionType::Incremental, Boundedness::Bounded)
}

/// State needed to open the scan of a row.
#[derive(Clone)]
struct Opener {
    query: u64,
    arrays: Arc<Arrays>,
    schema: SchemaRef,
    context: Arc<TaskContext>,
    metrics: Opened,
}

impl Opener {
    async fn open(self, row: Vec<u8>) -> Result<SendableRecordBatchStream> {
        let Self { query, arrays, schema, context, metrics } = self;
        let open = move || arrays.scan(query, &ScanPieces::from_bytes(&row)?);
        let opened = tokio::task::spawn_blocking(open).await;
        let scan = opened.map_err(|error| DataFusionError::ExecutionJoin(Box::new(error)))??;
        metrics.lock().unwrap_or_else(PoisonError::into_inner).push(scan.metrics());
        let cells = scan.open(0, context)?;
        let told = |schema: &SchemaRef| {
            let fields = schema.fields().iter();
            fields.map(|field| (field.name().clone(), field.data_type().clone())).collect::<Vec<_>>()
        };
        match told(&cells.schema()) == told(&schema) {
            true => Ok(cells),
            false => {
                let message =
                    format!("the scan has the columns {}, expected {schema} according to its plan", cells.schema());
                Err(DataFusionError::Execution(message))
            }
        }
    }
}

/// Returns the rows of a batch.
fn rows_of(batch: &RecordBatch) -> Vec<Result<Vec<u8>>> {
    match batch.columns().first().and_then(|column| column.as_binary_opt::<i32>()) {
        Some(rows) => rows.iter().flatten().map(|row| Ok(row.to_vec())).collect(),
        None => vec![Err(DataFusionError::Execution("expected binary rows as the input of a scan".to_owned()))],
    }
}

impl DisplayAs for ScanPartsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.header.schema.fields().iter().map(|field| field.name().as_str()).collect();
        write!(f, "ScanPartsExec: {}, columns=[{}]", self.header.uri, names.join(", "))
    }
}

impl ExecutionPlan for ScanPartsExec {
    fn name(&self) -> &'static str {
        "ScanPartsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.is_empty()) {
            (Some(input), true) => Ok(Self::new(self.header.clone(), input, self.arrays.clone())?),
            _ => Err(DataFusionError::Internal("a scan has one input".to_owned())),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(arrays) = self.arrays.clone() else {
            return Err(DataFusionError::Execution("only executors can read arrays".to_owned()));
        };
        let rows = self.input.execute(partition, context.clone())?;
        let (schema, metrics) = (self.schema(), self.metrics.clone());
        let opener = Opener { query: self.header.query, arrays, schema: schema.clone(), context, metrics };
        let rows = rows.map_ok(|batch| stream::iter(rows_of(&batch))).try_flatten();
        let cells = rows.and_then(move |row| opener.clone().open(row)).try_flatten().map_err(told);
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, cells)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        let mut all = MetricsSet::new();
        for scan in self.metrics.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            scan.clone_inner().iter().for_each(|metric| all.push(metric.clone()));
        }
        Some(all)
    }
}
