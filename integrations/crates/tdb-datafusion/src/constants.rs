//! Checks that constants compared with times in a DELETE have the precision of the column.
//!
//! DataFusion first casts a constant to the type of the column. For a column in milliseconds,
//! '2024-05-01 12:00:00.0005' becomes 12:00:00.000. A SELECT with `=` would then find wrong rows,
//! and a DELETE would remove them. The DELETE is therefore rejected.

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::DFSchemaRef;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, WriteOp};
use datafusion::optimizer::AnalyzerRule;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::scalar::ScalarValue;

use crate::error;
use crate::planner::is_of_array;

/// Checks the conditions of DELETE before constants are cast.
#[derive(Debug)]
pub(crate) struct ExactConstants;

impl AnalyzerRule for ExactConstants {
    fn name(&self) -> &'static str {
        "constants_of_deletes"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        if let LogicalPlan::Dml(delete) = &plan
            && delete.op == WriteOp::Delete
            && is_of_array(delete)
        {
            delete.input.apply(|node| {
                if let LogicalPlan::Filter(filter) = node {
                    check(&filter.predicate, filter.input.schema())?;
                }
                Ok(TreeNodeRecursion::Continue)
            })?;
        }
        Ok(plan)
    }
}

/// Rejects comparisons of times with constants of finer precision.
fn check(predicate: &Expr, schema: &DFSchemaRef) -> Result<()> {
    predicate.apply(|expr| {
        match expr {
            Expr::BinaryExpr(binary) => {
                pair(&binary.left, &binary.right, schema)?;
                pair(&binary.right, &binary.left, schema)?;
            }
            Expr::Between(between) => {
                pair(&between.expr, &between.low, schema)?;
                pair(&between.expr, &between.high, schema)?;
            }
            Expr::InList(list) => list.list.iter().try_for_each(|value| pair(&list.expr, value, schema))?,
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// Checks one side of a comparison against the other.
fn pair(side: &Expr, constant: &Expr, schema: &DFSchemaRef) -> Result<()> {
    let Some((name, types)) = column(side, schema)? else { return Ok(()) };
    if !types.iter().any(DataType::is_temporal) || !constant.column_refs().is_empty() {
        return Ok(());
    }
    let context = SimplifyContext::builder().with_schema(schema.clone()).with_current_time().build();
    let fits = match ExprSimplifier::new(context).simplify(constant.clone())? {
        Expr::Literal(value, _) => types.iter().all(|data_type| fits(&value, data_type)),
        // The value is unknown before execution.
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let what = format!("{constant} is not a value of column {name:?} of type {}", types[0]);
    Err(error::plan(format!(
        "DELETE: {what}, and would be rounded; write a value of the type, for example with date_trunc(…)"
    )))
}

/// Returns the column of an expression, ignoring casts, with the types of the column and the casts.
fn column(expr: &Expr, schema: &DFSchemaRef) -> Result<Option<(String, Vec<DataType>)>> {
    Ok(match expr {
        Expr::Column(column) => Some((column.name.clone(), vec![expr.get_type(schema)?])),
        Expr::Cast(cast) => with_type(column(&cast.expr, schema)?, expr.get_type(schema)?),
        Expr::TryCast(cast) => with_type(column(&cast.expr, schema)?, expr.get_type(schema)?),
        Expr::Alias(alias) => column(&alias.expr, schema)?,
        _ => None,
    })
}

fn with_type(found: Option<(String, Vec<DataType>)>, data_type: DataType) -> Option<(String, Vec<DataType>)> {
    let (name, mut types) = found?;
    types.push(data_type);
    Some((name, types))
}

/// Returns `true` if casting the value to a type of times does not round it. Also `true` if the
/// cast fails, because the error is reported elsewhere.
fn fits(value: &ScalarValue, data_type: &DataType) -> bool {
    let units = [TimeUnit::Nanosecond, TimeUnit::Microsecond, TimeUnit::Millisecond, TimeUnit::Second];
    let fine: Vec<DataType> = match data_type {
        DataType::Timestamp(_, zone) => units.map(|unit| DataType::Timestamp(unit, zone.clone())).to_vec(),
        DataType::Date32 | DataType::Date64 => units.map(|unit| DataType::Timestamp(unit, None)).to_vec(),
        DataType::Time32(_) | DataType::Time64(_) => vec![DataType::Time64(TimeUnit::Nanosecond)],
        _ => return true,
    };
    let Ok(rounded) = value.cast_to(data_type) else { return true };
    // The finest unit without overflow.
    let found = fine.iter().find_map(|fine| Some((value.cast_to(fine).ok().filter(|value| !value.is_null())?, fine)));
    found.is_none_or(|(exact, fine)| rounded.cast_to(fine).is_ok_and(|rounded| rounded == exact))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_finer_precision_are_detected() {
        let text = |text: &str| ScalarValue::Utf8(Some(text.to_owned()));
        let milliseconds = DataType::Timestamp(TimeUnit::Millisecond, None);
        assert!(fits(&text("2024-05-01T12:00:00.5"), &milliseconds));
        assert!(!fits(&text("2024-05-01T12:00:00.0005"), &milliseconds));
        assert!(!fits(&text("1960-05-01T12:00:00.0005"), &milliseconds));
        assert!(fits(&text("3024-05-01T12:00:00"), &milliseconds));
        assert!(!fits(&ScalarValue::TimestampNanosecond(Some(1_000_001), None), &milliseconds));
        assert!(fits(&ScalarValue::TimestampNanosecond(Some(-1_000_000), None), &milliseconds));
        assert!(fits(&ScalarValue::Date32(Some(19_000)), &milliseconds));
        assert!(fits(&text("2024-05-01"), &DataType::Date32));
        assert!(!fits(&text("2024-05-01T12:00:00"), &DataType::Date32));
        assert!(!fits(&text("12:00:00.5"), &DataType::Time32(TimeUnit::Second)));
        assert!(fits(&text("12:00:00.5"), &DataType::Time32(TimeUnit::Millisecond)));
        assert!(fits(&ScalarValue::Null, &milliseconds));
        assert!(fits(&text("not a time"), &milliseconds));
        assert!(fits(&ScalarValue::Float64(Some(0.5)), &DataType::Int32));
    }
}
