//! Replaces arithmetic and aggregates by the [functions](crate::functions) of this crate.

use std::sync::Arc;

use datafusion::common::DFSchema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::logical_expr::expr::WindowFunctionDefinition;
use datafusion::logical_expr::{AggregateUDF, Expr, ExprSchemable, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;

use super::expressions::rewritten;
use crate::functions::{combined, exact_aggregate, is_checked, negated};

/// Replaces operators and aggregate functions. Overflows are errors unless
/// `datafusion.execution.enable_ansi_mode` is off. DataFusion defines this option for the same
/// purpose, but ignores it.
#[derive(Debug)]
pub(super) struct ExactFunctions;

impl AnalyzerRule for ExactFunctions {
    fn name(&self) -> &'static str {
        "exact_functions"
    }

    fn analyze(&self, plan: LogicalPlan, config: &ConfigOptions) -> Result<LogicalPlan> {
        let checks = config.execution.enable_ansi_mode;
        rewritten(plan, |expr, schema| Ok(replaced(expr, schema, checks)))
    }
}

fn replaced(expr: Expr, schema: &DFSchema, checks: bool) -> Transformed<Expr> {
    // The type of a replaced expression is known, and slow to compute.
    let is_integer =
        |expr: &Expr| is_checked(expr) || expr.get_type(schema).is_ok_and(|data_type| data_type.is_integer());
    match expr {
        Expr::BinaryExpr(binary) if checks => match combined(&binary, is_integer) {
            Some(combined) => Transformed::yes(combined),
            None => Transformed::no(Expr::BinaryExpr(binary)),
        },
        Expr::Negative(operand) if checks && is_integer(&operand) => Transformed::yes(negated(*operand)),
        Expr::AggregateFunction(mut aggregate) => {
            match exact(&aggregate.func, &aggregate.params.args, schema, checks) {
                Some(exact) => {
                    aggregate.func = exact;
                    Transformed::yes(Expr::AggregateFunction(aggregate))
                }
                None => Transformed::no(Expr::AggregateFunction(aggregate)),
            }
        }
        Expr::WindowFunction(mut window) => {
            let exact = match &window.fun {
                WindowFunctionDefinition::AggregateUDF(aggregate) => {
                    exact(aggregate, &window.params.args, schema, checks)
                }
                WindowFunctionDefinition::WindowUDF(_) => None,
            };
            match exact {
                Some(exact) => {
                    window.fun = WindowFunctionDefinition::AggregateUDF(exact);
                    Transformed::yes(Expr::WindowFunction(window))
                }
                None => Transformed::no(Expr::WindowFunction(window)),
            }
        }
        other => Transformed::no(other),
    }
}

fn exact(function: &AggregateUDF, args: &[Expr], schema: &DFSchema, checks: bool) -> Option<Arc<AggregateUDF>> {
    exact_aggregate(function, &args.first()?.get_type(schema).ok()?, checks)
}
