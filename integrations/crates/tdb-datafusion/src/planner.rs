//! Planning of queries, which wait for their turn if memory is limited, and of DELETE, which never
//! deletes more rows than the statement selects.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::{DefaultTableSource, provider_as_source};
use datafusion::error::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::{DmlStatement, LogicalPlan, LogicalPlanBuilder, WriteOp, lit};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};

use crate::admission::{Admission, AdmittedExec};
use crate::array_planner::ArrayPlanner;
use crate::{TdbTable, error};

#[async_trait]
impl QueryPlanner for ArrayPlanner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, session: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        let checked = match plan {
            LogicalPlan::Dml(delete) if delete.op == WriteOp::Delete && is_of_array(delete) => Some(checked(delete)?),
            _ => None,
        };
        let planned =
            DefaultPhysicalPlanner::default().create_physical_plan(checked.as_ref().unwrap_or(plan), session).await?;
        Ok(match session.config().get_extension::<Admission>() {
            Some(admission) => Arc::new(AdmittedExec::new(admission, planned)),
            None => planned,
        })
    }
}

/// Returns `true` if the target of a statement is an array.
pub(crate) fn is_of_array(delete: &DmlStatement) -> bool {
    let source = delete.target.downcast_ref::<DefaultTableSource>();
    source.is_some_and(|source| source.table_provider.is::<TdbTable>())
}

/// Checks that the condition refers only to the table. If DataFusion has replaced the scan by an
/// empty relation, restores a scan with the condition `false`.
fn checked(delete: &DmlStatement) -> Result<LogicalPlan> {
    let mut is_nothing = false;
    delete.input.apply(|node| {
        match node {
            LogicalPlan::Projection(_) | LogicalPlan::TableScan(_) | LogicalPlan::SubqueryAlias(_) => {}
            LogicalPlan::Filter(filter) if !has_subquery(filter)? => {}
            LogicalPlan::EmptyRelation(empty) if !empty.produce_one_row => is_nothing = true,
            _ => {
                let what = "compare its columns with constants only, without other tables, ORDER BY and LIMIT";
                return Err(error::plan(format!("DELETE from array {:?}: {what}", delete.table_name.to_string())));
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    if !is_nothing {
        return Ok(LogicalPlan::Dml(delete.clone()));
    }
    let Some(source) = delete.target.downcast_ref::<DefaultTableSource>() else {
        return Err(error::plan("DELETE needs a table"));
    };
    let source = provider_as_source(source.table_provider.clone());
    let input = LogicalPlanBuilder::scan(delete.table_name.clone(), source, None)?.filter(lit(false))?.build()?;
    Ok(LogicalPlan::Dml(DmlStatement { input: Arc::new(input), ..delete.clone() }))
}

fn has_subquery(filter: &datafusion::logical_expr::Filter) -> Result<bool> {
    use datafusion::logical_expr::Expr;
    filter.predicate.exists(|expr| {
        Ok(matches!(expr, Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_) | Expr::SetComparison(_)))
    })
}
