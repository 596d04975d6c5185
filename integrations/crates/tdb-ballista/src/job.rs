//! A job on the cluster, as a node in the client's plan.

mod results;
mod submit;

use std::fmt;
use std::sync::Arc;

use ballista_core::serde::protobuf::{GetJobMetricsResult, KeyValuePair};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::{RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties as _, PlanProperties,
};
use datafusion_proto::bytes::physical_plan_to_bytes_with_extension_codec;
use datafusion_proto::physical_plan::PhysicalExtensionCodec;
use futures_util::stream;
use tokio::sync::mpsc::Sender;

use crate::cluster::Cluster;
use crate::divide::divided;
use crate::{Error, analyze};
use results::Given;
use submit::{Job, Request};

/// Maximum number of runs of a query whose results are lost with an executor.
const RUNS: usize = 3;
/// Number of batches read ahead.
const AHEAD: usize = 2;

/// A plan that runs on executors. Returns the rows in one partition.
#[derive(Clone, Debug)]
pub(crate) struct JobExec {
    cluster: Cluster,
    plan: Arc<dyn ExecutionPlan>,
    codec: Arc<dyn PhysicalExtensionCodec>,
    /// `true` to drop the rows, and return the operator metrics in their place.
    analyzes: bool,
    properties: Arc<PlanProperties>,
}

impl JobExec {
    /// Creates the node. With a schema for `analyze`, that of `EXPLAIN`, the node returns the
    /// operator metrics.
    pub(crate) fn new(
        cluster: Cluster,
        plan: Arc<dyn ExecutionPlan>,
        codec: Arc<dyn PhysicalExtensionCodec>,
        analyze: Option<SchemaRef>,
    ) -> Self {
        let analyzes = analyze.is_some();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(analyze.unwrap_or_else(|| plan.schema())),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Self { cluster, plan, codec, analyzes, properties: Arc::new(properties) }
    }

    /// Divides the scans, and serializes the plan.
    async fn request(&self, context: &TaskContext) -> Result<Request> {
        let (plan, codec) = (self.plan.clone(), self.codec.clone());
        let written = move || {
            let plan = divided(plan)?;
            let partitions = plan.output_partitioning().partition_count();
            Ok::<_, DataFusionError>((physical_plan_to_bytes_with_extension_codec(plan, codec.as_ref())?, partitions))
        };
        let plan = tokio::task::spawn_blocking(written).await;
        let (plan, partitions) = plan.map_err(|error| DataFusionError::ExecutionJoin(Box::new(error)))??;
        Ok(Request { plan: plan.to_vec(), partitions, settings: settings(context), session: context.session_id() })
    }

    /// Runs the plan, drops the rows, and returns the operator metrics.
    async fn metrics(&self, context: &TaskContext) -> Result<GetJobMetricsResult> {
        let mut job = Job::submit(&self.cluster, self.request(context).await?).await.map_err(external)?;
        job.finish().await.map_err(external)?;
        let metrics = job.metrics().await.map_err(external)?;
        job.clean().await;
        Ok(metrics)
    }

    /// Runs the plan. Runs it again if results are lost with an executor before any row was
    /// returned.
    async fn run(self, context: Arc<TaskContext>, to: Sender<Result<RecordBatch>>) -> Result<()> {
        let request = self.request(&context).await?;
        let mut runs = 1;
        loop {
            let mut job = Job::submit(&self.cluster, request.clone()).await.map_err(external)?;
            let finished = job.finish().await.map_err(external)?;
            match results::give(&self.cluster, &finished, request.partitions, &to).await.map_err(external)? {
                Given::All => {
                    job.clean().await;
                    return Ok(());
                }
                Given::None(error) if runs == RUNS => return Err(external(error)),
                Given::None(error) => {
                    log::warn!("job {} restarts: {error}", job.id());
                    runs += 1;
                }
            }
        }
    }
}

/// Returns the session settings for the cluster: those of DataFusion and Ballista. Other settings
/// stay local.
fn settings(context: &TaskContext) -> Vec<KeyValuePair> {
    let all = context.session_config().options().entries().into_iter();
    let known = all.filter(|entry| entry.key.starts_with("datafusion.") || entry.key.starts_with("ballista."));
    known.map(|entry| KeyValuePair { key: entry.key, value: entry.value }).collect()
}

fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

impl DisplayAs for JobExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JobExec: scheduler={}", self.cluster.scheduler)
    }
}

impl ExecutionPlan for JobExec {
    fn name(&self) -> &'static str {
        "JobExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    /// Hides the plan, which runs elsewhere.
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
        let (job, schema) = (self.clone(), self.schema());
        if self.analyzes {
            let columns = schema.clone();
            let row = async move { analyze::row(columns, &job.metrics(&context).await?) };
            return Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream::once(row))));
        }
        let mut builder = RecordBatchReceiverStreamBuilder::new(schema, AHEAD);
        builder.spawn(job.run(context, builder.tx()));
        Ok(builder.build())
    }
}
