//! Translation of single tests of a column.

use datafusion::logical_expr::Operator as Sql;
use datafusion::scalar::ScalarValue;
use std::ops::Bound;
use tdb_array::tdb_condition::{Condition, Literal, Members, Operator, field};
use tdb_array::tdb_rtree::DimRange;
use tdb_array::tdb_schema::{FieldRef, FieldType};
use tdb_array::tdb_types::{Datatype, Scalar};

use super::pushed::{Pushed, all, one_or};
use super::value::{Kind, bytes};
use crate::opened::Opened;

/// Returns the field of a column without an enumeration.
fn plain(opened: &Opened, column: &str) -> Option<(FieldRef, FieldType, Kind)> {
    let (reference, cells) = opened.field(column)?;
    if let FieldRef::Attribute(index) = reference
        && opened.array_schema().attributes().get(index)?.enumeration().is_some()
    {
        return None;
    }
    let kind = match (Kind::of(cells)?, reference) {
        // Coordinates are never null.
        (Kind::IntegerOrNoTime, FieldRef::Dimension(_)) => Kind::Integer,
        (kind, _) => kind,
    };
    Some((reference, cells, kind))
}

/// Compares a column with a value.
pub(super) fn compare(opened: &Opened, column: &str, operator: Sql, value: &ScalarValue) -> Option<Pushed> {
    let operator = match operator {
        Sql::Eq => Operator::Equal,
        Sql::NotEq => Operator::NotEqual,
        Sql::Lt => Operator::Less,
        Sql::LtEq => Operator::LessOrEqual,
        Sql::Gt => Operator::Greater,
        Sql::GtEq => Operator::GreaterOrEqual,
        _ => return None,
    };
    let (_, cells, kind) = plain(opened, column)?;
    if value.is_null() {
        return Some(Pushed::constant(false));
    }
    match kind {
        Kind::Boolean => boolean(column, operator, value),
        Kind::Float => float(opened, column, operator, value),
        Kind::Integer | Kind::Bytes | Kind::IntegerOrNoTime => {
            let value = Literal::from(bytes(cells.datatype, value)?);
            let compared = Pushed::exact(Condition::Compare { field: column.to_owned(), operator, value });
            not_null(compared, column, cells.datatype, kind)
        }
    }
}

/// Excludes values that are null in SQL.
fn not_null(found: Pushed, column: &str, datatype: Datatype, kind: Kind) -> Option<Pushed> {
    if kind == Kind::IntegerOrNoTime { all([Some(found), Some(is_time(column, datatype))]) } else { Some(found) }
}

/// Returns `true` if SQL represents this datatype with 32 bits. Values beyond are null in SQL, like
/// "no time".
fn is_short(datatype: Datatype) -> bool {
    matches!(datatype, Datatype::DatetimeDay | Datatype::TimeSec | Datatype::TimeMs)
}

/// Matches values that are not null in SQL: neither "no time" nor beyond the SQL type.
fn is_time(column: &str, datatype: Datatype) -> Pushed {
    let long = |value: i64| value.to_le_bytes().to_vec();
    Pushed::exact(match is_short(datatype) {
        true => field(column).ge(long(i32::MIN.into())).and(field(column).le(long(i32::MAX.into()))),
        false => field(column).ne(long(i64::MIN)),
    })
}

/// Matches values that are null in SQL: "no time", beyond the SQL type, or null.
fn is_no_time(column: &str, datatype: Datatype, nullable: bool) -> Pushed {
    let long = |value: i64| value.to_le_bytes().to_vec();
    let no_time = match is_short(datatype) {
        true => field(column).lt(long(i32::MIN.into())).or(field(column).gt(long(i32::MAX.into()))),
        false => field(column).eq(long(i64::MIN)),
    };
    let null = Condition::Null { field: column.to_owned(), negated: false };
    Pushed::exact(if nullable { no_time.or(null) } else { no_time })
}

fn boolean(column: &str, operator: Operator, value: &ScalarValue) -> Option<Pushed> {
    let ScalarValue::Boolean(Some(wanted)) = value else { return None };
    let wanted = match operator {
        Operator::Equal => *wanted,
        Operator::NotEqual => !wanted,
        _ => return None,
    };
    let operator = if wanted { Operator::NotEqual } else { Operator::Equal };
    Some(Pushed::exact(field(column).compare(operator, vec![0u8])))
}

/// Compares a column of floats with a value. SQL compares floats in total order: -NaN, -inf, …,
/// -0.0, 0.0, …, inf, NaN. DataFusion 55.2 was observed to treat both zeros as equal, but this code
/// does not rely on that. The condition is wider than the filter, and holds for both zeros and
/// every NaN.
fn float(opened: &Opened, column: &str, operator: Operator, value: &ScalarValue) -> Option<Pushed> {
    let (is_nan, is_zero) = match value {
        ScalarValue::Float32(Some(value)) => (value.is_nan(), *value == 0.0),
        ScalarValue::Float64(Some(value)) => (value.is_nan(), *value == 0.0),
        _ => return None,
    };
    let operator = match operator {
        Operator::Equal => return member(opened, column, false, &[value]),
        Operator::NotEqual => return member(opened, column, true, &[value]),
        _ if is_nan => return None,
        Operator::Less if is_zero => Operator::LessOrEqual,
        Operator::Greater if is_zero => Operator::GreaterOrEqual,
        operator => operator,
    };
    let (reference, cells, _) = plain(opened, column)?;
    let compared = field(column).compare(operator, bytes(cells.datatype, value)?);
    Some(Pushed::wider(match reference {
        // Coordinates are never NaN.
        FieldRef::Dimension(_) => compared,
        FieldRef::Attribute(_) => compared.or(field(column).is_nan()),
    }))
}

/// Tests for membership in a list of values, or for its opposite.
pub(super) fn member(opened: &Opened, column: &str, negated: bool, values: &[&ScalarValue]) -> Option<Pushed> {
    let (_, cells, kind) = plain(opened, column)?;
    // NOT IN with a null is never true.
    if negated && values.iter().any(|value| value.is_null()) {
        return Some(Pushed::constant(false));
    }
    let values = values.iter().filter(|value| !value.is_null());
    if kind == Kind::Boolean {
        let each: Vec<bool> = values.map(|value| matches!(value, ScalarValue::Boolean(Some(true)))).collect();
        return match (each.contains(&true), each.contains(&false)) {
            (true, true) if !negated => null(opened, column, false),
            (true, true) => Some(Pushed::constant(false)),
            (true, false) => boolean(column, Operator::Equal, &ScalarValue::Boolean(Some(!negated))),
            (false, true) => boolean(column, Operator::Equal, &ScalarValue::Boolean(Some(negated))),
            (false, false) => None,
        };
    }
    if kind == Kind::Float {
        return floats(opened, column, cells.datatype, negated, &values.copied().collect::<Vec<_>>());
    }
    let mut members = Members::default();
    for value in values {
        members.push(Literal::from(bytes(cells.datatype, value)?)).ok()?;
    }
    if members.iter().len() == 0 {
        return if negated { null(opened, column, false) } else { Some(Pushed::constant(false)) };
    }
    let found = Pushed::exact(Condition::Member { field: column.to_owned(), negated, values: members });
    not_null(found, column, cells.datatype, kind)
}

/// Tests floats for membership. DataFusion is inconsistent about the equality of signed zeros and
/// of NaNs with distinct bits. The condition is therefore wider for these.
fn floats(opened: &Opened, column: &str, datatype: Datatype, negated: bool, values: &[&ScalarValue]) -> Option<Pushed> {
    let (mut members, mut zero, mut has_nan) = (Members::default(), None, false);
    for value in values {
        let bytes = bytes(datatype, value)?;
        match Scalar::from_le_bytes(datatype.physical(), &bytes)?.to_f64() {
            value if value.is_nan() => has_nan = true,
            0.0 => zero = Some(bytes),
            _ => members.push(Literal::from(bytes)).ok()?,
        }
    }
    let exact = zero.is_none() && !has_nan;
    let mut any = Vec::new();
    if members.iter().len() > 0 {
        any.push(Condition::Member { field: column.to_owned(), negated, values: members });
    } else if negated {
        return null(opened, column, false).filter(|_| exact);
    }
    if !negated {
        any.extend(zero.map(|zero| field(column).eq(zero)));
        any.extend(has_nan.then(|| field(column).is_nan()));
    }
    Some(Pushed { condition: one_or(any, Condition::Or), exact })
}

/// Tests for null (`wanted`), or for its opposite.
pub(super) fn null(opened: &Opened, column: &str, wanted: bool) -> Option<Pushed> {
    let (reference, cells) = opened.field(column)?;
    let arrow = opened.schema.field_with_name(column).ok()?;
    if !arrow.is_nullable() || matches!(reference, FieldRef::Dimension(_)) {
        return Some(Pushed::constant(!wanted));
    }
    let found = plain(opened, column);
    if found.is_some_and(|(_, _, kind)| kind == Kind::IntegerOrNoTime) {
        return Some(match wanted {
            true => is_no_time(column, cells.datatype, cells.nullable),
            false => is_time(column, cells.datatype),
        });
    }
    // Arrow has further nulls: positions outside of enumerations, and overflowing dates of other
    // units.
    let is_plain = found.is_some();
    let is_list = cells.cell_val_num != tdb_array::tdb_types::CellValNum::ONE
        && !cells.datatype.is_datetime()
        && !cells.datatype.is_time();
    if !cells.nullable || !(is_plain || is_list) {
        return None;
    }
    Some(Pushed::exact(Condition::Null { field: column.to_owned(), negated: !wanted }))
}

/// Tests for a LIKE pattern, by its literal prefix.
pub(super) fn like(opened: &Opened, column: &str, pattern: &str) -> Option<Pushed> {
    let (_, cells, kind) = plain(opened, column)?;
    if kind != Kind::Bytes || cells.datatype == Datatype::Char {
        return None;
    }
    let end = pattern.find(['%', '_', '\\']).unwrap_or(pattern.len());
    let (prefix, rest) = pattern.split_at(end);
    if rest.is_empty() {
        return Some(Pushed::exact(field(column).eq(prefix.as_bytes().to_vec())));
    }
    if prefix.is_empty() {
        return None;
    }
    let from = field(column).ge(prefix.as_bytes().to_vec());
    let condition = match DimRange::prefix(prefix) {
        DimRange::Var { hi: Bound::Excluded(end), .. } => from.and(field(column).lt(end)),
        _ => from,
    };
    // `%` also matches line breaks.
    Some(if rest == "%" { Pushed::exact(condition) } else { Pushed::wider(condition) })
}
