//! Lists that have a zero: DataFusion's IN takes zeros of either sign for different values, and its `=` for the same.

use datafusion::common::DFSchema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, lit};
use datafusion::optimizer::AnalyzerRule;
use datafusion::scalar::ScalarValue;

use super::expressions::rewritten;

/// Gives such lists both zeros.
#[derive(Debug)]
pub(super) struct BothZeros;

impl AnalyzerRule for BothZeros {
    fn name(&self) -> &'static str {
        "both_zeros"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        rewritten(plan, |expr, schema| Ok(with_both(expr, schema)))
    }
}

fn with_both(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let Expr::InList(mut list) = expr else { return Transformed::no(expr) };
    let is_float = list.expr.get_type(schema).is_ok_and(|data_type| data_type.is_floating());
    let zero = list.list.iter().filter(|_| is_float).find_map(|item| constant(item).filter(is_zero));
    let Some(zero) = zero else { return Transformed::no(Expr::InList(list)) };
    list.list.extend(zero.arithmetic_negate().ok().map(lit));
    list.list.push(lit(zero));
    Transformed::yes(Expr::InList(list))
}

fn constant(expr: &Expr) -> Option<ScalarValue> {
    match expr {
        Expr::Literal(value, _) => Some(value.clone()),
        Expr::Cast(cast) => constant(&cast.expr)?.cast_to(cast.field.data_type()).ok(),
        Expr::Negative(operand) => constant(operand)?.arithmetic_negate().ok(),
        _ => None,
    }
}

fn is_zero(value: &ScalarValue) -> bool {
    match value {
        ScalarValue::Float32(Some(value)) => *value == 0.0,
        ScalarValue::Float64(Some(value)) => *value == 0.0,
        _ => false,
    }
}
