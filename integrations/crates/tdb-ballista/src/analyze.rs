//! `EXPLAIN ANALYZE` of queries on a cluster.

use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

use ballista_core::error::BallistaError;
use ballista_core::serde::protobuf::{GetJobMetricsResult, OperatorMetricsSet};
use datafusion::arrow::array::{ArrayRef, StringArray};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures_util::stream;

use crate::job::JobExec;

/// Runs a job, drops the rows, and returns the operator metrics by stage.
#[derive(Debug)]
pub(crate) struct AnalyzeJobExec {
    job: Arc<JobExec>,
    properties: Arc<PlanProperties>,
}

impl AnalyzeJobExec {
    /// Creates the node. `schema` is that of `EXPLAIN`: two text columns.
    pub(crate) fn new(job: JobExec, schema: SchemaRef) -> Self {
        let known = EquivalenceProperties::new(schema);
        let one = Partitioning::UnknownPartitioning(1);
        let properties = PlanProperties::new(known, one, EmissionType::Final, Boundedness::Bounded);
        Self { job: Arc::new(job), properties: Arc::new(properties) }
    }
}

impl DisplayAs for AnalyzeJobExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnalyzeJobExec: ")?;
        self.job.fmt_as(format, f)
    }
}

impl ExecutionPlan for AnalyzeJobExec {
    fn name(&self) -> &'static str {
        "AnalyzeJobExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match children.is_empty() {
            true => Ok(self),
            false => Err(DataFusionError::Internal("a job has no inputs".to_owned())),
        }
    }

    fn execute(&self, _partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (job, schema) = (self.job.clone(), self.schema());
        let columns = schema.clone();
        let told = async move {
            let metrics = job.metrics(&context).await?;
            let told: [ArrayRef; 2] = [
                Arc::new(StringArray::from(vec!["Plan with Metrics"])),
                Arc::new(StringArray::from(vec![told(&metrics)?])),
            ];
            Ok(RecordBatch::try_new(columns, told.into())?)
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream::once(told))))
    }
}

/// Formats the stages in execution order, each with operators from the last down.
fn told(metrics: &GetJobMetricsResult) -> Result<String> {
    let mut text = String::new();
    let mut stages: Vec<_> = metrics.stages.iter().collect();
    stages.sort_by_key(|stage| stage.stage_id);
    for stage in stages {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "stage {}, {} partitions", stage.stage_id, stage.partitions);
        for operator in &stage.operators {
            let metrics = OperatorMetricsSet { metrics: operator.metrics.clone() };
            let metrics: Result<MetricsSet, BallistaError> = metrics.try_into();
            let metrics = metrics.map_err(|error| DataFusionError::External(Box::new(error)))?;
            let metrics = metrics.aggregate_by_name().sorted_for_display().timestamps_removed();
            let indent = "  ".repeat(operator.depth as usize + 1);
            let _ = writeln!(text, "{indent}{}, metrics=[{metrics}]", operator.operator_desc);
        }
    }
    Ok(text)
}
