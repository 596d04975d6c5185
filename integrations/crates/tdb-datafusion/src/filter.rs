//! Translation of SQL filters to conditions on cells.
//!
//! The condition holds for every row where the filter is true. Without further rows, the condition
//! is [exact](Pushed::exact), and DataFusion need not filter again. SQL has three truth values,
//! conditions have two. NOT is therefore pushed down to the comparisons first. For null, neither a
//! comparison nor its opposite is true, in both languages.

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

/// Translates a filter. `None` if no condition can express any part of it.
pub(crate) fn condition(opened: &Opened, filter: &Arc<dyn PhysicalExpr>) -> Option<Pushed> {
    Translator { opened }.translate(filter, false, DEEPEST)
}

struct Translator<'a> {
    opened: &'a Opened,
}

impl Translator<'_> {
    /// Translates an expression or its negation.
    fn translate(&self, expr: &Arc<dyn PhysicalExpr>, negate: bool, depth: u32) -> Option<Pushed> {
        let depth = depth.checked_sub(1)?;
        if let Some(not) = expr.downcast_ref::<NotExpr>() {
            return self.translate(not.arg(), !negate, depth);
        }
        if let Some(binary) = expr.downcast_ref::<BinaryExpr>()
            && matches!(binary.op(), Operator::And | Operator::Or)
        {
            let nodes = operands(expr, *binary.op());
            let nodes = nodes.iter().map(|node| self.translate(node, negate, depth));
            return if (*binary.op() == Operator::And) != negate { all(nodes) } else { any(nodes) };
        }
        if let Some(found) = dictionary::members(self.opened, expr, negate) {
            return found;
        }
        if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
            return self.binary(binary, negate);
        }
        if let Some(list) = expr.downcast_ref::<InListExpr>() {
            return self.in_list(list, negate);
        }
        if let Some(test) = expr.downcast_ref::<IsNullExpr>() {
            return leaf::null(self.opened, self.column(test.arg())?, !negate);
        }
        if let Some(test) = expr.downcast_ref::<IsNotNullExpr>() {
            return leaf::null(self.opened, self.column(test.arg())?, negate);
        }
        if let Some(like) = expr.downcast_ref::<LikeExpr>() {
            let pattern = like.pattern().downcast_ref::<Literal>()?.value().try_as_str()??.to_owned();
            let is_plain = !like.negated() && !negate && !like.case_insensitive();
            return if is_plain { leaf::like(self.opened, self.column(like.expr())?, &pattern) } else { None };
        }
        if let Some(literal) = expr.downcast_ref::<Literal>() {
            return match literal.value() {
                ScalarValue::Boolean(Some(truth)) => Some(Pushed::constant(*truth != negate)),
                value if value.is_null() => Some(Pushed::constant(false)),
                _ => None,
            };
        }
        let truth = ScalarValue::Boolean(Some(!negate));
        leaf::compare(self.opened, self.column(expr)?, Operator::Eq, &truth)
    }

    fn binary(&self, binary: &BinaryExpr, negate: bool) -> Option<Pushed> {
        let (column, operator, value) = match (self.column(binary.left()), binary.right().downcast_ref::<Literal>()) {
            (Some(column), Some(literal)) => (column, *binary.op(), literal.value()),
            _ => {
                let literal = binary.left().downcast_ref::<Literal>()?;
                (self.column(binary.right())?, binary.op().swap()?, literal.value())
            }
        };
        let operator = if negate { operator.negate()? } else { operator };
        match operator {
            Operator::IsDistinctFrom | Operator::IsNotDistinctFrom => {
                let is_same = operator == Operator::IsNotDistinctFrom;
                if value.is_null() {
                    return leaf::null(self.opened, column, is_same);
                }
                let operator = if is_same { Operator::Eq } else { Operator::NotEq };
                let compared = leaf::compare(self.opened, column, operator, value);
                if is_same { compared } else { any([compared, leaf::null(self.opened, column, true)]) }
            }
            operator => leaf::compare(self.opened, column, operator, value),
        }
    }

    fn in_list(&self, list: &InListExpr, negate: bool) -> Option<Pushed> {
        let values = list.list().iter().map(|item| item.downcast_ref::<Literal>().map(Literal::value));
        let values: Vec<&ScalarValue> = values.collect::<Option<_>>()?;
        leaf::member(self.opened, self.column(list.expr())?, list.negated() != negate, &values)
    }

    /// Returns the name of a column expression.
    fn column<'e>(&self, expr: &'e Arc<dyn PhysicalExpr>) -> Option<&'e str> {
        Some(expr.downcast_ref::<Column>()?.name())
    }
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
