//! IN and NOT IN with subqueries over nullable values.
//!
//! DataFusion treats NOT IN as "no row is equal", which is true where SQL requires null. This
//! affects constants, and NOT IN inside OR and other expressions.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchemaRef, ExprSchema};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, Filter, LogicalPlan, LogicalPlanBuilder, Operator, Subquery, lit, when,
};
use datafusion::optimizer::AnalyzerRule;
use datafusion::scalar::ScalarValue;

/// Rewrites the conditions with EXISTS, which is never null.
#[derive(Debug)]
pub(super) struct NotIn;

impl AnalyzerRule for NotIn {
    fn name(&self) -> &'static str {
        "not_in"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(in_plan)?.data)
    }
}

fn in_plan(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Filter(filter) = plan else { return Ok(Transformed::no(plan)) };
    if !filter.predicate.exists(|expr| Ok(matches!(expr, Expr::InSubquery(_))))? {
        return Ok(Transformed::no(LogicalPlan::Filter(filter)));
    }
    let rewriter = Rewriter { schema: filter.input.schema().clone() };
    let predicate = rewriter.conjunct(filter.predicate)?;
    Ok(Transformed::yes(LogicalPlan::Filter(Filter::try_new(predicate, filter.input)?)))
}

struct Rewriter {
    schema: DFSchemaRef,
}

impl Rewriter {
    /// Rewrites a conjunct of the filter.
    fn conjunct(&self, expr: Expr) -> Result<Expr> {
        match expr {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
                Ok(self.conjunct(*left)?.and(self.conjunct(*right)?))
            }
            // DataFusion has a join for these.
            Expr::InSubquery(list) if list.negated && is_join(&list) => Ok(Expr::InSubquery(list)),
            other => self.truth(other),
        }
    }

    /// Returns an expression that is true for the same rows as `expr`, and false or null for other
    /// rows.
    fn truth(&self, expr: Expr) -> Result<Expr> {
        Ok(match expr {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
                self.truth(*left)?.and(self.truth(*right)?)
            }
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
                self.truth(*left)?.or(self.truth(*right)?)
            }
            Expr::Not(operand) => self.falsity(*operand)?,
            Expr::InSubquery(list) if list.negated => self.not_in(list)?,
            Expr::InSubquery(list) => Expr::InSubquery(list),
            other => self.value(other)?,
        })
    }

    /// Returns an expression that is true for the rows where `expr` is false, and false or null for
    /// other rows.
    fn falsity(&self, expr: Expr) -> Result<Expr> {
        Ok(match expr {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
                self.falsity(*left)?.or(self.falsity(*right)?)
            }
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
                self.falsity(*left)?.and(self.falsity(*right)?)
            }
            Expr::Not(operand) => self.truth(*operand)?,
            Expr::InSubquery(list) if list.negated => Expr::InSubquery(InSubquery { negated: false, ..list }),
            Expr::InSubquery(list) => self.not_in(list)?,
            other => !self.value(other)?,
        })
    }

    /// Returns the same expression, in which tests for membership are null where SQL requires null.
    fn value(&self, expr: Expr) -> Result<Expr> {
        let member = |expr: Expr| {
            let Expr::InSubquery(list) = expr else { return Ok(Transformed::no(expr)) };
            if !self.may_be_null(&list)? {
                return Ok(Transformed::no(Expr::InSubquery(list)));
            }
            let (negated, list) = (list.negated, InSubquery { negated: false, ..list });
            let is_not = self.not_in(list.clone())?;
            let null = Expr::Literal(ScalarValue::Boolean(None), None);
            let value = when(Expr::InSubquery(list), lit(!negated)).when(is_not, lit(negated)).otherwise(null)?;
            Ok(Transformed::yes(value))
        };
        Ok(expr.transform_up(member)?.data)
    }

    fn may_be_null(&self, list: &InSubquery) -> Result<bool> {
        Ok(list.expr.nullable(self.schema.as_ref())? || is_nullable(&list.subquery))
    }

    /// Returns an expression for "no value of the subquery equals `expr`, and neither side is
    /// null". The expression is never null.
    fn not_in(&self, list: InSubquery) -> Result<Expr> {
        if !self.may_be_null(&list)? {
            return Ok(Expr::InSubquery(InSubquery { negated: true, ..list }));
        }
        let InSubquery { expr, subquery, .. } = list;
        let column = || Expr::Column(Column::from(subquery.subquery.schema().qualified_field(0)));
        let mut all = not_exists(&subquery, Some(column().eq(self.outer(&expr)?)))?;
        if is_nullable(&subquery) {
            all = all.and(not_exists(&subquery, Some(column().is_null()))?);
        }
        if expr.nullable(self.schema.as_ref())? {
            all = all.and(expr.is_not_null().or(not_exists(&subquery, None)?));
        }
        Ok(all)
    }

    /// Rewrites columns as outer references of the subquery.
    fn outer(&self, expr: &Expr) -> Result<Expr> {
        let column = |expr: Expr| match expr {
            Expr::Column(column) => {
                let field = self.schema.field_from_column(&column)?.clone();
                Ok(Transformed::yes(Expr::OuterReferenceColumn(field, column)))
            }
            other => Ok(Transformed::no(other)),
        };
        Ok(expr.clone().transform(column)?.data)
    }
}

/// Returns `true` if NOT IN becomes a null-aware join, on one pair of columns.
fn is_join(list: &InSubquery) -> bool {
    !list.expr.column_refs().is_empty() && list.subquery.outer_ref_columns.is_empty()
}

fn is_nullable(subquery: &Subquery) -> bool {
    subquery.subquery.schema().field(0).is_nullable()
}

/// Tests that no row of a subquery satisfies a condition.
fn not_exists(subquery: &Subquery, condition: Option<Expr>) -> Result<Expr> {
    let mut outer = subquery.outer_ref_columns.clone();
    let plan = match condition {
        None => subquery.subquery.clone(),
        Some(condition) => {
            condition.apply(|expr| {
                if matches!(expr, Expr::OuterReferenceColumn(..)) && !outer.contains(expr) {
                    outer.push(expr.clone());
                }
                Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
            })?;
            Arc::new(LogicalPlanBuilder::from(subquery.subquery.as_ref().clone()).filter(condition)?.build()?)
        }
    };
    let subquery = Subquery { subquery: plan, outer_ref_columns: outer, spans: subquery.spans.clone() };
    Ok(Expr::Exists(Exists::new(subquery, true)))
}
