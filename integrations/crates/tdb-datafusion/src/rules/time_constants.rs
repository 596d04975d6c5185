//! Comparisons of dates and times with constants, in the unit of the column.
//!
//! DataFusion compares timestamps with strings, dates and timestamps of other units in nanoseconds.
//! Nanoseconds overflow after the year 2262. DataFusion also rounds constants finer than the
//! column.

use datafusion::arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, TimeUnit};
use datafusion::common::DFSchema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, cast, lit};
use datafusion::optimizer::AnalyzerRule;
use datafusion::scalar::ScalarValue;

use super::expressions::rewritten;

/// Replaces constants by values of the column's type.
#[derive(Debug)]
pub(super) struct TimeConstants;

impl AnalyzerRule for TimeConstants {
    fn name(&self) -> &'static str {
        "time_constants"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        rewritten(plan, |expr, schema| Ok(replaced(expr, schema)))
    }
}

fn replaced(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let changed = match &expr {
        Expr::BinaryExpr(binary) => {
            let swapped = binary.op.swap().and_then(|op| compared(&binary.right, op, &binary.left, schema));
            compared(&binary.left, binary.op, &binary.right, schema).or(swapped)
        }
        Expr::Between(between) => {
            let low = compared(&between.expr, Operator::GtEq, &between.low, schema);
            let high = compared(&between.expr, Operator::LtEq, &between.high, schema);
            (low.is_some() || high.is_some()).then(|| {
                let plain = |op, bound: &Expr| binary(between.expr.as_ref().clone(), op, bound.clone());
                let low = low.unwrap_or_else(|| plain(Operator::GtEq, &between.low));
                let both = low.and(high.unwrap_or_else(|| plain(Operator::LtEq, &between.high)));
                if between.negated { !both } else { both }
            })
        }
        Expr::InList(list) => member(list, schema),
        _ => None,
    };
    match changed {
        Some(changed) => Transformed::yes(changed),
        None => Transformed::no(expr),
    }
}

fn binary(left: Expr, op: Operator, right: Expr) -> Expr {
    Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))
}

/// Rewrites a comparison of a time with a constant, or with a time of another unit.
fn compared(side: &Expr, op: Operator, other: &Expr, schema: &DFSchema) -> Option<Expr> {
    use Operator as O;
    let data_type = time_type(side, schema)?;
    let is_comparison =
        matches!(op, O::Eq | O::NotEq | O::Lt | O::LtEq | O::Gt | O::GtEq | O::IsDistinctFrom | O::IsNotDistinctFrom);
    if !is_comparison {
        return None;
    }
    let Some(constant) = Constant::of(other, &data_type) else {
        let other_type = time_type(other, schema).filter(|other| *other != data_type)?;
        return Some(binary(exactly(side, &data_type)?, op, exactly(other, &other_type)?));
    };
    let side = side.clone();
    Some(match (constant, op) {
        (Constant::Exact(value), op) => binary(side, op, lit(value)),
        (_, O::Eq) => never(side),
        (_, O::NotEq) => !never(side),
        (_, O::IsDistinctFrom) => lit(true),
        (_, O::IsNotDistinctFrom) => lit(false),
        (Constant::Above(value), O::Lt | O::LtEq) => binary(side, O::LtEq, lit(value)),
        (Constant::Above(value), _) => binary(side, O::Gt, lit(value)),
        (Constant::BeyondAll, O::Lt | O::LtEq) | (Constant::BelowAll, O::Gt | O::GtEq) => !never(side),
        (Constant::BeyondAll | Constant::BelowAll, _) => never(side),
    })
}

/// Converts a timestamp or date to nanoseconds as a decimal. `TimestampNanosecond` ends in the year
/// 2262.
fn exactly(expr: &Expr, data_type: &DataType) -> Option<Expr> {
    let (DataType::Timestamp(_, None) | DataType::Date32) = data_type else { return None };
    let decimal = DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0);
    let unit = ScalarValue::Decimal128(Some(nanoseconds(data_type)?), DECIMAL128_MAX_PRECISION, 0);
    Some(cast(cast(expr.clone(), DataType::Int64), decimal) * lit(unit))
}

/// Returns an expression that is false, or null where `expr` is null.
fn never(expr: Expr) -> Expr {
    expr.is_null().and(Expr::Literal(ScalarValue::Boolean(None), None))
}

fn member(list: &InList, schema: &DFSchema) -> Option<Expr> {
    let data_type = time_type(&list.expr, schema)?;
    let constants: Vec<Option<Constant>> = list.list.iter().map(|value| Constant::of(value, &data_type)).collect();
    if constants.iter().all(Option::is_none) {
        return None;
    }
    let values = list.list.iter().zip(constants).filter_map(|(value, constant)| match constant {
        Some(Constant::Exact(value)) => Some(lit(value)),
        Some(_) => None,
        None => Some(value.clone()),
    });
    let values: Vec<Expr> = values.collect();
    let never = || never(list.expr.as_ref().clone());
    Some(match (values.is_empty(), list.negated) {
        (true, true) => !never(),
        (true, false) => never(),
        (false, negated) => list.expr.as_ref().clone().in_list(values, negated),
    })
}

/// Returns the type of an expression of dates or times. Returns `None` for constants.
fn time_type(expr: &Expr, schema: &DFSchema) -> Option<DataType> {
    if expr.column_refs().is_empty() {
        return None;
    }
    expr.get_type(schema).ok().filter(|data_type| nanoseconds(data_type).is_some())
}

/// Returns the nanoseconds per unit of a date or time type.
fn nanoseconds(data_type: &DataType) -> Option<i128> {
    let unit = |unit: &TimeUnit| match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1000,
        TimeUnit::Nanosecond => 1,
    };
    match data_type {
        DataType::Timestamp(of, _) | DataType::Time32(of) | DataType::Time64(of) => Some(unit(of)),
        DataType::Date32 => Some(86_400_000_000_000),
        _ => None,
    }
}

/// Position of a constant among the values of a type.
enum Constant {
    /// Equals this value.
    Exact(ScalarValue),
    /// Between this value and the next.
    Above(ScalarValue),
    BeyondAll,
    BelowAll,
}

impl Constant {
    /// Locates a string, date or time among the values of a date or time type.
    fn of(expr: &Expr, data_type: &DataType) -> Option<Self> {
        let value = literal(expr, data_type)?;
        let fine = match value.try_as_str() {
            Some(text) => of_text(text?, data_type)?,
            // Other types are compared or rejected by DataFusion.
            None if is_same_kind(&value.data_type(), data_type) => {
                i128::from(number(&value)?) * nanoseconds(&value.data_type())?
            }
            None => return None,
        };
        let unit = nanoseconds(data_type)?;
        let floor = fine.div_euclid(unit);
        Some(match i64::try_from(floor).ok().and_then(|floor| time(floor, data_type)) {
            Some(value) if fine.rem_euclid(unit) == 0 => Self::Exact(value),
            Some(value) => Self::Above(value),
            None if floor < 0 => Self::BelowAll,
            None => Self::BeyondAll,
        })
    }
}

/// Returns a constant: a literal, or a string cast to a timestamp or date.
fn literal(expr: &Expr, data_type: &DataType) -> Option<ScalarValue> {
    match expr {
        Expr::Literal(value, _) if !value.is_null() => Some(value.clone()),
        Expr::Cast(cast) => match (cast.expr.as_ref(), cast.field.data_type()) {
            (Expr::Literal(value, _), DataType::Timestamp(_, zone)) if value.try_as_str().flatten().is_some() => {
                let same_zone = match data_type {
                    DataType::Timestamp(_, other) => other == zone,
                    _ => zone.is_none(),
                };
                same_zone.then(|| value.clone())
            }
            (Expr::Literal(value, _), DataType::Date32) if value.try_as_str().flatten().is_some() => {
                value.cast_to(&DataType::Date32).ok()
            }
            _ => None,
        },
        Expr::Alias(alias) => literal(&alias.expr, data_type),
        _ => None,
    }
}

/// Returns `true` if values of both types count from the same moment.
fn is_same_kind(data_type: &DataType, other: &DataType) -> bool {
    match (data_type, other) {
        (DataType::Timestamp(_, zone), DataType::Timestamp(_, other)) => zone == other,
        (DataType::Timestamp(_, None), DataType::Date32) | (DataType::Date32, DataType::Timestamp(_, None)) => true,
        (DataType::Time32(_) | DataType::Time64(_), DataType::Time32(_) | DataType::Time64(_)) => true,
        _ => false,
    }
}

/// Parses a string as nanoseconds, via the finest unit without overflow.
fn of_text(text: &str, data_type: &DataType) -> Option<i128> {
    let units = [TimeUnit::Nanosecond, TimeUnit::Microsecond, TimeUnit::Millisecond, TimeUnit::Second];
    let kinds = match data_type {
        DataType::Time32(_) | DataType::Time64(_) => vec![DataType::Time64(TimeUnit::Nanosecond)],
        DataType::Timestamp(_, zone) => units.map(|unit| DataType::Timestamp(unit, zone.clone())).to_vec(),
        _ => units.map(|unit| DataType::Timestamp(unit, None)).to_vec(),
    };
    let text = ScalarValue::from(text);
    let value = |kind: &DataType| Some(i128::from(number(&text.cast_to(kind).ok()?)?) * nanoseconds(kind)?);
    kinds.iter().find_map(value)
}

/// Returns the number of a date or time.
fn number(value: &ScalarValue) -> Option<i64> {
    use ScalarValue as S;
    match value {
        S::TimestampSecond(number, _) | S::TimestampMillisecond(number, _) | S::TimestampMicrosecond(number, _) => {
            *number
        }
        S::TimestampNanosecond(number, _) | S::Time64Microsecond(number) | S::Time64Nanosecond(number) => *number,
        S::Time32Second(number) | S::Time32Millisecond(number) | S::Date32(number) => number.map(i64::from),
        _ => None,
    }
}

/// Creates a value of a date or time type.
fn time(number: i64, data_type: &DataType) -> Option<ScalarValue> {
    use ScalarValue as S;
    let short = i32::try_from(number).ok();
    Some(match data_type {
        DataType::Timestamp(TimeUnit::Second, zone) => S::TimestampSecond(Some(number), zone.clone()),
        DataType::Timestamp(TimeUnit::Millisecond, zone) => S::TimestampMillisecond(Some(number), zone.clone()),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => S::TimestampMicrosecond(Some(number), zone.clone()),
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => S::TimestampNanosecond(Some(number), zone.clone()),
        DataType::Date32 => S::Date32(Some(short?)),
        DataType::Time32(TimeUnit::Second) => S::Time32Second(Some(short?)),
        DataType::Time32(_) => S::Time32Millisecond(Some(short?)),
        DataType::Time64(TimeUnit::Microsecond) => S::Time64Microsecond(Some(number)),
        DataType::Time64(_) => S::Time64Nanosecond(Some(number)),
        _ => return None,
    })
}
