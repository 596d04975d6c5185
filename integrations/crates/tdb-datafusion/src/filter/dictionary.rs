//! Filters on columns with an enumeration. DataFusion evaluates the filter once per value of the
//! enumeration.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, PrimitiveArray, RecordBatch, new_null_array,
};
use datafusion::arrow::datatypes::{ArrowDictionaryKeyType, DataType, Int32Type, Int64Type, Schema};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::PhysicalExpr;
use tdb_array::tdb_condition::{Condition, Literal, Members, field};
use tdb_array::tdb_schema::FieldRef;
use tdb_array::tdb_types::{CellValNum, Scalar};

use super::pushed::{Pushed, one_or};
use crate::floats::array_with_one_nan;
use crate::opened::Opened;

/// Maximum number of values to evaluate.
const MOST_VALUES: usize = 1 << 20;

/// Translates a filter on one enumerated column to the set of matching values. The outer `None`
/// means another kind of filter, the inner `None` a filter without translation.
pub(super) fn members(opened: &Opened, expr: &Arc<dyn PhysicalExpr>, negate: bool) -> Option<Option<Pushed>> {
    let named = columns(expr, &opened.schema);
    let [column] = &named[..] else { return None };
    let (FieldRef::Attribute(index), _) = opened.field(column)? else { return None };
    opened.array_schema().attributes().get(index)?.enumeration()?;
    Some(evaluated(opened, expr, column, negate))
}

fn evaluated(opened: &Opened, expr: &Arc<dyn PhysicalExpr>, column: &str, negate: bool) -> Option<Pushed> {
    let (FieldRef::Attribute(index), cells) = opened.field(column)? else { return None };
    let name = opened.array_schema().attributes().get(index)?.enumeration()?;
    let enumeration = opened.array.enumeration(name).ok()?;
    if enumeration.len() > MOST_VALUES {
        return None;
    }
    // The maximum position that a cell can store.
    let most = usize::try_from(cells.datatype.physical().max_integer()?).unwrap_or(usize::MAX);
    let values = enumeration_values(opened, column)?;
    if values.len() != enumeration.len() || values.len() > most.saturating_add(1) {
        return None;
    }
    if is_true_of_null(opened, expr, column, negate)? {
        return None;
    }
    let truths = truths(opened, expr, column, values)?;
    let datatype = enumeration.datatype();
    let is_float = datatype.is_float() && enumeration.cell_val_num() == CellValNum::ONE;
    let (mut members, mut has_nan, mut zeros) = (Members::default(), false, Vec::new());
    for (place, value) in enumeration.values().enumerate() {
        let is_true = truths.is_valid(place) && truths.value(place) != negate;
        if is_float {
            match Scalar::from_le_bytes(datatype.physical(), value)?.to_f64() {
                // Membership never matches NaN.
                number if number.is_nan() => {
                    has_nan |= is_true;
                    continue;
                }
                0.0 => zeros.push(is_true),
                _ => {}
            }
        }
        if is_true {
            members.push(Literal::from(value.to_vec())).ok()?;
        }
    }
    let mut any = Vec::new();
    if members.iter().len() > 0 {
        any.push(Condition::Member { field: column.to_owned(), negated: false, values: members });
    }
    any.extend(has_nan.then(|| field(column).is_nan()));
    let condition = one_or(any, Condition::Or);
    // Membership of a zero matches zeros of both signs.
    Some(Pushed { condition, exact: zeros.iter().all(|is_true| *is_true == zeros[0]) })
}

/// Returns the values of the column's enumeration.
fn enumeration_values(opened: &Opened, column: &str) -> Option<ArrayRef> {
    let conversion = opened.conversion(&[column.to_owned()]).ok()?;
    conversion.enumeration_values(0).map(array_with_one_nan)
}

/// Returns `true` if the expression is true for null. With `negate`, tests the negated expression.
fn is_true_of_null(opened: &Opened, expr: &Arc<dyn PhysicalExpr>, column: &str, negate: bool) -> Option<bool> {
    let data_type = opened.schema.field_with_name(column).ok()?.data_type();
    let truth = evaluate(opened, expr, column, new_null_array(data_type, 1))?;
    Some(truth.is_valid(0) && truth.value(0) != negate)
}

/// Evaluates the expression for each value.
fn truths(opened: &Opened, expr: &Arc<dyn PhysicalExpr>, column: &str, values: ArrayRef) -> Option<BooleanArray> {
    fn keyed<K: ArrowDictionaryKeyType>(values: ArrayRef) -> Option<ArrayRef>
    where
        K::Native: TryFrom<usize>,
    {
        let keys: Option<Vec<K::Native>> = (0..values.len()).map(|place| K::Native::try_from(place).ok()).collect();
        let keys = PrimitiveArray::<K>::from_iter_values(keys?);
        Some(Arc::new(DictionaryArray::try_new(keys, values).ok()?))
    }
    // Tables are opened with wide keys: `Int32` or `Int64`.
    let array = match opened.schema.field_with_name(column).ok()?.data_type() {
        DataType::Dictionary(key, _) if **key == DataType::Int32 => keyed::<Int32Type>(values)?,
        DataType::Dictionary(key, _) if **key == DataType::Int64 => keyed::<Int64Type>(values)?,
        DataType::Dictionary(..) => return None,
        _ => values,
    };
    evaluate(opened, expr, column, array)
}

/// Evaluates the expression for a column of values.
fn evaluate(opened: &Opened, expr: &Arc<dyn PhysicalExpr>, column: &str, values: ArrayRef) -> Option<BooleanArray> {
    let field = opened.schema.field_with_name(column).ok()?.clone().with_nullable(true);
    let schema = Arc::new(Schema::new(vec![field]));
    let rows = values.len();
    let batch = RecordBatch::try_new(schema.clone(), vec![values]).ok()?;
    let only = Arc::new(Column::new(column, 0));
    let moved = expr.clone().transform_up(|node| match node.downcast_ref::<Column>() {
        Some(_) => Ok(Transformed::yes(only.clone() as Arc<dyn PhysicalExpr>)),
        None => Ok(Transformed::no(node)),
    });
    let expr = moved.ok()?.data;
    let truth = expr.evaluate(&batch).ok()?.into_array(rows).ok()?;
    truth.as_any().downcast_ref::<BooleanArray>().cloned()
}

/// Returns the columns in an expression.
fn columns(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Vec<String> {
    let columns = datafusion::physical_expr::utils::collect_columns(expr).into_iter();
    columns.map(|column| column.name().to_owned()).filter(|name| schema.field_with_name(name).is_ok()).collect()
}
