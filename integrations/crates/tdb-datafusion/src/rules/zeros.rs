//! Equality of signed zeros. In DataFusion, `=` treats both zeros as equal, but IN, `nullif` and
//! `CASE … WHEN` compare bits.

use datafusion::common::DFSchema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Case, Expr, ExprSchemable, LogicalPlan, lit};
use datafusion::optimizer::AnalyzerRule;
use datafusion::scalar::ScalarValue;

use super::expressions::rewritten;

/// Adds the other zero to lists, and rewrites `nullif` and CASE with `=`.
#[derive(Debug)]
pub(super) struct BothZeros;

impl AnalyzerRule for BothZeros {
    fn name(&self) -> &'static str {
        "both_zeros"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        rewritten(plan, |expr, schema| {
            let changed = match &expr {
                Expr::InList(list) if is_float(&list.expr, schema) => with_both(list),
                Expr::ScalarFunction(function) if function.name() == "nullif" => match &function.args[..] {
                    [value, null] if is_float(value, schema) && !value.is_volatile() => {
                        let null =
                            (value.clone().eq(null.clone()), lit(ScalarValue::Null.cast_to(&value.get_type(schema)?)?));
                        Some(case([null], Some(value.clone().into())))
                    }
                    _ => None,
                },
                Expr::Case(Case { expr: Some(value), when_then_expr, else_expr })
                    if is_float(value, schema) && !value.is_volatile() =>
                {
                    let branches = when_then_expr
                        .iter()
                        .map(|(when, then)| (value.as_ref().clone().eq(when.as_ref().clone()), then.as_ref().clone()));
                    Some(case(branches, else_expr.clone()))
                }
                _ => None,
            };
            Ok(changed.map_or_else(|| Transformed::no(expr), Transformed::yes))
        })
    }
}

fn is_float(expr: &Expr, schema: &DFSchema) -> bool {
    expr.get_type(schema).is_ok_and(|data_type| data_type.is_floating())
}

fn case(branches: impl IntoIterator<Item = (Expr, Expr)>, otherwise: Option<Box<Expr>>) -> Expr {
    let branches = branches.into_iter().map(|(when, then)| (when.into(), then.into())).collect();
    Expr::Case(Case::new(None, branches, otherwise))
}

fn with_both(list: &InList) -> Option<Expr> {
    let zero = list.list.iter().find_map(|item| constant(item).filter(is_zero))?;
    let mut list = list.clone();
    list.list.extend(zero.arithmetic_negate().ok().map(lit));
    list.list.push(lit(zero));
    Some(Expr::InList(list))
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
