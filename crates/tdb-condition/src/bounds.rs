//! Evaluation of a condition over bounds of cells.

use std::cmp::Ordering;

use tdb_schema::FieldType;
use tdb_types::{Datatype, Scalar};

use crate::bind::{BoundCondition, BoundField, Node, Test};
use crate::literal::is_text;
use crate::tree::Operator;

/// Bounds for some cells of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellBounds<'a> {
    /// The inclusive range of all non-null cells, as bytes of cells. `None` if unknown, or if a
    /// cell may be a NaN.
    pub range: Option<(&'a [u8], &'a [u8])>,
    /// The presence of nulls.
    pub nulls: Nulls,
}

/// The presence of nulls among some cells.
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

/// The result of a condition for some cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fulfilment {
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
    /// `bounds` returns the bounds of each of the [`fields`](Self::fields), by index.
    ///
    /// ```
    /// use tdb_condition::{CellBounds, Condition, Fulfilment, Nulls};
    /// # use tdb_schema::{Attribute, Dimension, SchemaBuilder};
    /// # use tdb_types::Datatype;
    /// # let x = Dimension::new("x", 0i32..=99);
    /// # let schema = SchemaBuilder::sparse().dimension(x).attribute(Attribute::new("a", Datatype::UInt8)).build()?;
    /// let within = |text: &str, low: &[u8], high: &[u8]| -> Result<Fulfilment, Box<dyn std::error::Error>> {
    ///     let bound = text.parse::<Condition>()?.bind(&schema, |_| None)?;
    ///     Ok(bound.over_bounds(|_| CellBounds { range: Some((low, high)), nulls: Nulls::None }))
    /// };
    /// assert_eq!(within("a > 7", &[3], &[7])?, Fulfilment::None);
    /// assert_eq!(within("a > 7 or a in (1, 2)", &[2], &[8])?, Fulfilment::Unknown);
    /// assert_eq!(within("not a between 5 and 6", &[7], &[9])?, Fulfilment::All);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn over_bounds<'a>(&self, bounds: impl Fn(usize) -> CellBounds<'a>) -> Fulfilment {
        over(&self.root, &self.fields, &bounds)
    }
}

fn over<'a>(node: &Node, fields: &[BoundField], bounds: &dyn Fn(usize) -> CellBounds<'a>) -> Fulfilment {
    match node {
        Node::Constant(true) => Fulfilment::All,
        Node::Constant(false) => Fulfilment::None,
        Node::Test { field, test } => {
            fields.get(*field).map_or(Fulfilment::Unknown, |known| of_test(test, known.cells, bounds(*field)))
        }
        Node::And(nodes) => combined(nodes, fields, bounds, Fulfilment::All, Fulfilment::None),
        Node::Or(nodes) => combined(nodes, fields, bounds, Fulfilment::None, Fulfilment::All),
    }
}

/// Combines nodes. A `decisive` result ends the evaluation, a `neutral` result has no effect.
fn combined<'a>(
    nodes: &[Node],
    fields: &[BoundField],
    bounds: &dyn Fn(usize) -> CellBounds<'a>,
    neutral: Fulfilment,
    decisive: Fulfilment,
) -> Fulfilment {
    let mut all = neutral;
    for node in nodes {
        match over(node, fields, bounds) {
            one if one == decisive => return decisive,
            Fulfilment::Unknown => all = Fulfilment::Unknown,
            _ => {}
        }
    }
    all
}

fn of_test(test: &Test, cells: FieldType, bounds: CellBounds<'_>) -> Fulfilment {
    if let Test::Null(wanted) = test {
        return match (bounds.nulls, wanted) {
            (Nulls::Unknown, _) => Fulfilment::Unknown,
            (Nulls::All, true) | (Nulls::None, false) => Fulfilment::All,
            (Nulls::All, false) | (Nulls::None, true) => Fulfilment::None,
        };
    }
    if bounds.nulls == Nulls::All {
        return Fulfilment::None;
    }
    let of_values = bounds.range.map_or(Fulfilment::Unknown, |range| of_values(test, cells.datatype, range));
    match (of_values, bounds.nulls) {
        // Null cells satisfy no comparison.
        (Fulfilment::All, Nulls::Unknown) => Fulfilment::Unknown,
        (known, _) => known,
    }
}

/// Evaluates a test for cells between two values.
fn of_values(test: &Test, datatype: Datatype, (low, high): (&[u8], &[u8])) -> Fulfilment {
    let decided = match test {
        Test::Number { operator, value, .. } | Test::Bytes { signed: false, operator, value, .. } => {
            let at = |bound: &[u8]| compare(datatype, bound, value);
            at(low).zip(at(high)).map(|(low, high)| of_comparison(*operator, low, high))
        }
        // Cells with bounds have no NaNs.
        Test::Nan(_, wanted) => Some(if *wanted { Fulfilment::None } else { Fulfilment::All }),
        // The bounds are computed for unsigned bytes.
        Test::Bytes { signed: true, .. } | Test::FirstChar { .. } | Test::Null(_) => None,
        Test::SmallSet { size, negated, values } => {
            let value = |value: &u64| value.to_le_bytes()[..(*size).min(8)].to_vec();
            of_set(datatype, *negated, values.iter().map(value), (low, high))
        }
        Test::Set { negated, values, .. } => of_set(datatype, *negated, values.iter().cloned(), (low, high)),
    };
    decided.unwrap_or(Fulfilment::Unknown)
}

/// Evaluates a comparison. `low` and `high` are the orderings of the bounds relative to the value.
fn of_comparison(operator: Operator, low: Ordering, high: Ordering) -> Fulfilment {
    let decide = |none: bool, all: bool| match (none, all) {
        (true, _) => Fulfilment::None,
        (_, true) => Fulfilment::All,
        _ => Fulfilment::Unknown,
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
) -> Option<Fulfilment> {
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
        (true, _) => Some(if negated { Fulfilment::All } else { Fulfilment::None }),
        (_, true) => Some(if negated { Fulfilment::None } else { Fulfilment::All }),
        _ => None,
    }
}

/// Compares two values. Returns `None` if they are not comparable.
fn compare(datatype: Datatype, a: &[u8], b: &[u8]) -> Option<Ordering> {
    if is_text(datatype) {
        return Some(a.cmp(b));
    }
    let number = |bytes: &[u8]| Scalar::from_le_bytes(datatype.physical(), bytes);
    number(a)?.partial_cmp(&number(b)?)
}
