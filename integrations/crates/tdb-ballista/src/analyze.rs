//! `EXPLAIN ANALYZE` of queries on a cluster.

use std::fmt::Write as _;
use std::sync::Arc;

use ballista_core::error::BallistaError;
use ballista_core::serde::protobuf::{GetJobMetricsResult, OperatorMetricsSet};
use datafusion::arrow::array::{ArrayRef, StringArray};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_plan::metrics::MetricsSet;

/// Returns the row of `EXPLAIN ANALYZE`: two text columns, with the operator metrics by stage.
pub(crate) fn row(schema: SchemaRef, metrics: &GetJobMetricsResult) -> Result<RecordBatch> {
    let text = |text: String| -> ArrayRef { Arc::new(StringArray::from(vec![text])) };
    Ok(RecordBatch::try_new(schema, vec![text("Plan with Metrics".to_owned()), text(told(metrics)?)])?)
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
