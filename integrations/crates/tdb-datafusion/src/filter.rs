//! Translation of SQL filters to conditions on cells.
//!
//! The condition holds for every row where the filter is true. If the condition holds for no other
//! rows, the condition is [exact](Pushed::exact), and DataFusion need not filter again. SQL has
//! three truth values, conditions have two. NOT is therefore pushed down to the comparisons first.
//! For null, neither a comparison nor its opposite is true, in both languages.

mod dictionary;
mod leaf;
mod pushed;
#[cfg(test)]
mod tests;
mod value;

use std::sync::Arc;

use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, LikeExpr, Literal, NotExpr,
};
use datafusion::physical_plan::PhysicalExpr;
use datafusion::scalar::ScalarValue;

use crate::opened::Opened;
use pushed::any;
pub(crate) use pushed::{Pushed, all, is_always, is_never};

/// Maximum depth of translated filters.
const DEEPEST: u32 = 100;

/// Translates a filter. Returns `None` if no condition can express any part of it.
pub(crate) fn condition(opened: &Opened, filter: &Arc<dyn PhysicalExpr>) -> Option<Pushed> {
    translate(opened, filter, false, DEEPEST)
}

/// Translates an expression or its negation.
fn translate(opened: &Opened, expr: &Arc<dyn PhysicalExpr>, negate: bool, depth: u32) -> Option<Pushed> {
    let depth = depth.checked_sub(1)?;
    if let Some(not) = expr.downcast_ref::<NotExpr>() {
        return translate(opened, not.arg(), !negate, depth);
    }
    if let Some(binary) = expr.downcast_ref::<BinaryExpr>()
        && matches!(binary.op(), Operator::And | Operator::Or)
    {
        let nodes = operands(expr, *binary.op());
        let nodes = nodes.iter().map(|node| translate(opened, node, negate, depth));
        return if (*binary.op() == Operator::And) != negate { all(nodes) } else { any(nodes) };
    }
    if let Some(found) = dictionary::members(opened, expr, negate) {
        return found;
    }
    if let Some(comparison) = expr.downcast_ref::<BinaryExpr>() {
        return binary(opened, comparison, negate);
    }
    if let Some(list) = expr.downcast_ref::<InListExpr>() {
        return in_list(opened, list, negate);
    }
    if let Some(test) = expr.downcast_ref::<IsNullExpr>() {
        return leaf::null(opened, column(test.arg())?, !negate);
    }
    if let Some(test) = expr.downcast_ref::<IsNotNullExpr>() {
        return leaf::null(opened, column(test.arg())?, negate);
    }
    if let Some(like) = expr.downcast_ref::<LikeExpr>() {
        let pattern = like.pattern().downcast_ref::<Literal>()?.value().try_as_str()??.to_owned();
        let is_plain = !like.negated() && !negate && !like.case_insensitive();
        return if is_plain { leaf::like(opened, column(like.expr())?, &pattern) } else { None };
    }
    if let Some(literal) = expr.downcast_ref::<Literal>() {
        return match literal.value() {
            ScalarValue::Boolean(Some(truth)) => Some(Pushed::constant(*truth != negate)),
            value if value.is_null() => Some(Pushed::constant(false)),
            _ => None,
        };
    }
    let truth = ScalarValue::Boolean(Some(!negate));
    leaf::compare(opened, column(expr)?, Operator::Eq, &truth)
}

fn binary(opened: &Opened, binary: &BinaryExpr, negate: bool) -> Option<Pushed> {
    let (name, operator, value) = match (column(binary.left()), binary.right().downcast_ref::<Literal>()) {
        (Some(column), Some(literal)) => (column, *binary.op(), literal.value()),
        _ => {
            let literal = binary.left().downcast_ref::<Literal>()?;
            (column(binary.right())?, binary.op().swap()?, literal.value())
        }
    };
    let operator = if negate { operator.negate()? } else { operator };
    match operator {
        Operator::IsDistinctFrom | Operator::IsNotDistinctFrom => {
            let is_same = operator == Operator::IsNotDistinctFrom;
            if value.is_null() {
                return leaf::null(opened, name, is_same);
            }
            let operator = if is_same { Operator::Eq } else { Operator::NotEq };
            let compared = leaf::compare(opened, name, operator, value);
            if is_same { compared } else { any([compared, leaf::null(opened, name, true)]) }
        }
        operator => leaf::compare(opened, name, operator, value),
    }
}

fn in_list(opened: &Opened, list: &InListExpr, negate: bool) -> Option<Pushed> {
    let values = list.list().iter().map(|item| item.downcast_ref::<Literal>().map(Literal::value));
    let values: Vec<&ScalarValue> = values.collect::<Option<_>>()?;
    leaf::member(opened, column(list.expr())?, list.negated() != negate, &values)
}

/// Returns the name of a column expression.
fn column(expr: &Arc<dyn PhysicalExpr>) -> Option<&str> {
    Some(expr.downcast_ref::<Column>()?.name())
}

/// Flattens a chain of the same operator. Chains may be long, and are nested to the left.
fn operands(expr: &Arc<dyn PhysicalExpr>, operator: Operator) -> Vec<Arc<dyn PhysicalExpr>> {
    let (mut found, mut left) = (Vec::new(), vec![expr.clone()]);
    while let Some(expr) = left.pop() {
        match expr.downcast_ref::<BinaryExpr>() {
            Some(binary) if *binary.op() == operator => {
                left.push(binary.right().clone());
                left.push(binary.left().clone());
            }
            _ => found.push(expr),
        }
    }
    found
}
