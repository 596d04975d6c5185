//! Division of plans between client and cluster.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::datasource::sink::DataSinkExec;
use datafusion::error::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::analyze::AnalyzeExec;
use datafusion::physical_plan::{ChildrenPropertiesMode, ExecutionPlan, ReplaceChildrenOptions};
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner as _};

use crate::cluster::Cluster;
use crate::codec::PhysicalCodec;
use crate::divide::reads;
use crate::job::JobExec;

/// Plans like the session without a cluster, then moves the parts that read arrays or files to the
/// cluster.
///
/// Other plans run in the client, next to the catalogs, tables in memory and settings. Writes also
/// run in the client: their rows come from the cluster, and each write is atomic.
pub(crate) struct ClusterPlanner {
    cluster: Cluster,
    /// Planner without the cluster. `None` for DataFusion's planner.
    inner: Option<Arc<dyn QueryPlanner + Send + Sync>>,
}

impl ClusterPlanner {
    pub(crate) fn new(cluster: Cluster, inner: Option<Arc<dyn QueryPlanner + Send + Sync>>) -> Self {
        Self { cluster, inner }
    }

    /// Plans without the cluster. The session temporarily gets the inner planner, because tables
    /// may check the session's planner.
    async fn alone(&self, plan: &LogicalPlan, session: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(inner) = &self.inner else {
            return DefaultPhysicalPlanner::default().create_physical_plan(plan, session).await;
        };
        match session.as_any().downcast_ref::<SessionState>() {
            Some(state) => {
                let builder = SessionStateBuilder::new_from_existing(state.clone());
                inner.create_physical_plan(plan, &builder.with_query_planner(inner.clone()).build()).await
            }
            None => inner.create_physical_plan(plan, session).await,
        }
    }

    fn placed(&self, plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        if !reads(&plan)? {
            return Ok(plan);
        }
        if let Some(analyze) = plan.downcast_ref::<AnalyzeExec>() {
            return Ok(Arc::new(self.job(analyze.input(), Some(plan.schema()))));
        }
        if plan.is::<DataSinkExec>() {
            let children = plan.children().into_iter().map(|child| self.placed(child.clone()));
            let children = children.collect::<Result<Vec<_>>>()?;
            return plan.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute));
        }
        Ok(Arc::new(self.job(&plan, None)))
    }

    fn job(&self, plan: &Arc<dyn ExecutionPlan>, analyze: Option<SchemaRef>) -> JobExec {
        JobExec::new(self.cluster.clone(), plan.clone(), Arc::new(PhysicalCodec::of_plans()), analyze)
    }
}

impl fmt::Debug for ClusterPlanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterPlanner").field("cluster", &self.cluster).finish_non_exhaustive()
    }
}

#[async_trait]
impl QueryPlanner for ClusterPlanner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, session: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        self.placed(self.alone(plan, session).await?)
    }
}
