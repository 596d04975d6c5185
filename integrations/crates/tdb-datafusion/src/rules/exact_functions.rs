//! Arithmetic and aggregates by the [functions](crate::functions) of this crate.

use std::sync::Arc;

use datafusion::common::DFSchema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::logical_expr::expr::{ScalarFunction, WindowFunctionDefinition};
use datafusion::logical_expr::{AggregateUDF, Expr, ExprSchemable, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;

use super::expressions::rewritten;
use crate::functions::{Operation, checked, exact_aggregate};

/// Replaces operators and aggregate functions. Overflows are errors unless `datafusion.execution.enable_ansi_mode` is off, which DataFusion
/// has for this purpose and does not heed.
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
    let is_integer = |expr: &Expr| expr.get_type(schema).is_ok_and(|data_type| data_type.is_integer());
    match expr {
        Expr::BinaryExpr(binary) if checks && is_integer(&binary.left) && is_integer(&binary.right) => {
            match Operation::of(binary.op) {
                Some(operation) => Transformed::yes(function(operation, vec![*binary.left, *binary.right])),
                None => Transformed::no(Expr::BinaryExpr(binary)),
            }
        }
        Expr::Negative(operand) if checks && is_integer(&operand) => {
            Transformed::yes(function(Operation::Negate, vec![*operand]))
        }
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

fn function(operation: Operation, args: Vec<Expr>) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(checked(operation), args))
}

fn exact(function: &AggregateUDF, args: &[Expr], schema: &DFSchema, checks: bool) -> Option<Arc<AggregateUDF>> {
    exact_aggregate(function, &args.first()?.get_type(schema).ok()?, checks)
}
