//! Evaluation of a condition over bounds of cells.

use std::cmp::Ordering;

use tdb_schema::FieldType;
use tdb_types::{Datatype, Scalar};

use crate::bind::{BoundCondition, BoundField, Node, Test};
use crate::literal::is_text;
use crate::tree::Operator;

/// The bounds of a set of cells of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellBounds<'a> {
    /// Inclusive lower and upper bounds of all non-null cells, each encoded like a cell. `None` if
    /// unknown, or if a cell may be a NaN.
    pub range: Option<(&'a [u8], &'a [u8])>,
    /// The presence of nulls.
    pub nulls: Nulls,
}

/// The presence of nulls among the cells of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Nulls {
    /// No cell is null.
    None,
    /// All cells are null.
    All,
    /// Unknown.
    #[default]
    Unknown,
}

/// The result of a condition for a set of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Matches {
    /// The condition is false for all cells.
    None,
    /// The bounds do not decide. The condition may be true for some cells and false for others.
    Unknown,
    /// The condition is true for all cells.
    All,
}

impl BoundCondition {
    /// Evaluates the condition over bounds of cells.
    ///
    /// `bounds` returns the bounds of the field at an index in [`fields`](Self::fields).
    ///
    /// ```
    /// use tdb_condition::{CellBounds, Condition, Matches, Nulls};
    /// # use tdb_schema::{Attribute, Dimension, SchemaBuilder};
    /// # use tdb_types::Datatype;
    /// # let x = Dimension::new("x", 0i32..=99);
    /// # let schema = SchemaBuilder::sparse().dimension(x).attribute(Attribute::new("a", Datatype::UInt8)).build()?;
    /// let within = |text: &str, low: &[u8], high: &[u8]| -> Result<Matches, Box<dyn std::error::Error>> {
    ///     let bound = text.parse::<Condition>()?.bind(&schema, |_| None)?;
    ///     Ok(bound.over_bounds(|_| CellBounds { range: Some((low, high)), nulls: Nulls::None }))
    /// };
    /// assert_eq!(within("a > 7", &[3], &[7])?, Matches::None);
    /// assert_eq!(within("a > 7 or a in (1, 2)", &[2], &[8])?, Matches::Unknown);
    /// assert_eq!(within("not a between 5 and 6", &[7], &[9])?, Matches::All);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn over_bounds<'a>(&self, bounds: impl Fn(usize) -> CellBounds<'a>) -> Matches {
        over(&self.root, &self.fields, &bounds)
    }
}

fn over<'a>(node: &Node, fields: &[BoundField], bounds: &dyn Fn(usize) -> CellBounds<'a>) -> Matches {
    match node {
        Node::Constant(true) => Matches::All,
        Node::Constant(false) => Matches::None,
        Node::Test { field, test } => {
            fields.get(*field).map_or(Matches::Unknown, |known| of_test(test, known.cells, bounds(*field)))
        }
        Node::And(nodes) => combined(nodes, fields, bounds, Matches::All, Matches::None),
        Node::Or(nodes) => combined(nodes, fields, bounds, Matches::None, Matches::All),
    }
}

/// Combines the results of child nodes. A `decisive` result ends the evaluation. A `neutral` result
/// has no effect.
fn combined<'a>(
    nodes: &[Node],
    fields: &[BoundField],
    bounds: &dyn Fn(usize) -> CellBounds<'a>,
    neutral: Matches,
    decisive: Matches,
) -> Matches {
    let mut all = neutral;
    for node in nodes {
        match over(node, fields, bounds) {
            one if one == decisive => return decisive,
            Matches::Unknown => all = Matches::Unknown,
            _ => {}
        }
    }
    all
}

fn of_test(test: &Test, cells: FieldType, bounds: CellBounds<'_>) -> Matches {
    if let Test::Null(wanted) = test {
        return match (bounds.nulls, wanted) {
            (Nulls::Unknown, _) => Matches::Unknown,
            (Nulls::All, true) | (Nulls::None, false) => Matches::All,
            (Nulls::All, false) | (Nulls::None, true) => Matches::None,
        };
    }
    if bounds.nulls == Nulls::All {
        return Matches::None;
    }
    let of_values = bounds.range.map_or(Matches::Unknown, |range| of_values(test, cells.datatype, range));
    match (of_values, bounds.nulls) {
        // Null cells satisfy no comparison.
        (Matches::All, Nulls::Unknown) => Matches::Unknown,
        (known, _) => known,
    }
}

/// Evaluates a test for cells between two values.
fn of_values(test: &Test, datatype: Datatype, (low, high): (&[u8], &[u8])) -> Matches {
    let decided = match test {
        Test::Number { operator, value, .. } | Test::Bytes { signed: false, operator, value, .. } => {
            let at = |bound: &[u8]| compare(datatype, bound, value);
            at(low).zip(at(high)).map(|(low, high)| of_comparison(*operator, low, high))
        }
        // Cells with bounds have no NaNs.
        Test::Nan(_, wanted) => Some(if *wanted { Matches::None } else { Matches::All }),
        // Bounds order bytes as unsigned, but these comparisons are signed.
        Test::Bytes { signed: true, .. } | Test::FirstChar { .. } | Test::Null(_) => None,
        Test::SmallSet { size, negated, values } => {
            let value = |value: &u64| value.to_le_bytes()[..(*size).min(8)].to_vec();
            of_set(datatype, *negated, values.iter().map(value), (low, high))
        }
        Test::Set { negated, values, .. } => of_set(datatype, *negated, values.iter().cloned(), (low, high)),
    };
    decided.unwrap_or(Matches::Unknown)
}

/// Evaluates a comparison. `low` and `high` are the orderings of the bounds relative to the value.
fn of_comparison(operator: Operator, low: Ordering, high: Ordering) -> Matches {
    let decide = |none: bool, all: bool| match (none, all) {
        (true, _) => Matches::None,
        (_, true) => Matches::All,
        _ => Matches::Unknown,
    };
    match operator {
        Operator::Less => decide(low.is_ge(), high.is_lt()),
        Operator::LessOrEqual => decide(low.is_gt(), high.is_le()),
        Operator::Greater => decide(high.is_le(), low.is_gt()),
        Operator::GreaterOrEqual => decide(high.is_lt(), low.is_ge()),
        Operator::Equal => decide(low.is_gt() || high.is_lt(), low.is_eq() && high.is_eq()),
        Operator::NotEqual => decide(low.is_eq() && high.is_eq(), low.is_gt() || high.is_lt()),
    }
}

fn of_set(
    datatype: Datatype,
    negated: bool,
    mut values: impl Iterator<Item = Vec<u8>>,
    (low, high): (&[u8], &[u8]),
) -> Option<Matches> {
    let is_apart = |value: &Vec<u8>| match (compare(datatype, low, value), compare(datatype, high, value)) {
        (Some(low), Some(high)) => low.is_gt() || high.is_lt(),
        // A NaN in the set equals no cell, because cells with bounds have no NaNs.
        _ => datatype.physical().is_float(),
    };
    // Sets compare bytes. A float equal to both bounds may have different bytes, like zeros of
    // different sign.
    let is_one_value = low == high && !datatype.physical().is_float();
    let (mut are_apart, mut is_in) = (true, false);
    for value in values.by_ref() {
        are_apart &= is_apart(&value);
        is_in |= is_one_value && value == low;
    }
    match (are_apart, is_in) {
        (true, _) => Some(if negated { Matches::All } else { Matches::None }),
        (_, true) => Some(if negated { Matches::None } else { Matches::All }),
        _ => None,
    }
}

/// Compares two values. Returns `None` if the values are not comparable.
fn compare(datatype: Datatype, a: &[u8], b: &[u8]) -> Option<Ordering> {
    if is_text(datatype) {
        return Some(a.cmp(b));
    }
    let number = |bytes: &[u8]| Scalar::from_le_bytes(datatype.physical(), bytes);
    number(a)?.partial_cmp(&number(b)?)
}
