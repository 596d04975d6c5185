//! Rewriting of expressions in plans.

use datafusion::common::DFSchema;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// Rewrites the expressions of a plan and its subqueries. Names and types stay the same.
pub(super) fn rewritten(
    plan: LogicalPlan,
    rewrite: impl Fn(Expr, &DFSchema) -> Result<Transformed<Expr>>,
) -> Result<LogicalPlan> {
    let in_plan = |plan: LogicalPlan| {
        // Leaves limits unchanged, because DataFusion requires literals there before it evaluates
        // constants.
        if matches!(plan, LogicalPlan::Limit(_)) {
            return Ok(Transformed::no(plan));
        }
        let schema = merge_schema(&plan.inputs());
        let names = NamePreserver::new(&plan);
        plan.map_expressions(|expr| {
            let name = names.save(&expr);
            let expr = expr.transform_up(|expr| rewrite(expr, &schema))?;
            Ok(expr.update_data(|expr| name.restore(expr)))
        })
    };
    Ok(plan.transform_up_with_subqueries(in_plan)?.data)
}
