//! Evaluation of conditions over columns of cells.
//!
//! The type of a field and the operator of a test are matched once per column, outside of the loops
//! over cells.

use tdb_types::{Cells, PhysicalType, with_physical};

use crate::bind::{BoundCondition, Node, Test, small};
use crate::tree::Operator;

impl BoundCondition {
    /// Evaluates the condition for each cell, and stores the results in `truth`.
    ///
    /// `fields` has the cells of each of the [`fields`](Self::fields), in that order, or `None` if
    /// the fragment does not have the field. Every test of a missing field is false, like for
    /// stored conditions in the reference library. For queries, first pass the fill value of the
    /// missing field to [`assuming`](Self::assuming). If a column is shorter than `truth`,
    /// comparisons of the missing cells are false.
    pub fn evaluate(&self, fields: &[Option<Cells<'_>>], truth: &mut [bool]) {
        evaluate(&self.root, fields, truth);
    }
}

fn evaluate(node: &Node, fields: &[Option<Cells<'_>>], truth: &mut [bool]) {
    match node {
        Node::Constant(constant) => truth.fill(*constant),
        Node::Test { field, test } => {
            truth.fill(false);
            if let Some(Some(cells)) = fields.get(*field) {
                run(test, cells, truth);
            }
        }
        Node::And(nodes) => combine(nodes, fields, truth, true, |truth, other| *truth &= other),
        Node::Or(nodes) => combine(nodes, fields, truth, false, |truth, other| *truth |= other),
    }
}

/// Runs a test on a single cell.
pub(crate) fn judge(test: &Test, cell: &Cells<'_>) -> bool {
    let mut truth = [false];
    run(test, cell, &mut truth);
    truth[0]
}

fn combine(
    nodes: &[Node],
    fields: &[Option<Cells<'_>>],
    truth: &mut [bool],
    empty: bool,
    join: impl Fn(&mut bool, bool),
) {
    let Some((first, rest)) = nodes.split_first() else { return truth.fill(empty) };
    evaluate(first, fields, truth);
    let mut other = vec![false; if rest.is_empty() { 0 } else { truth.len() }];
    for node in rest {
        evaluate(node, fields, &mut other);
        truth.iter_mut().zip(&other).for_each(|(truth, other)| join(truth, *other));
    }
}

/// Runs a test. All of `truth` must be `false`.
fn run(test: &Test, cells: &Cells<'_>, truth: &mut [bool]) {
    if let Test::Null(wanted) = test {
        return match cells.validity() {
            Some(validity) => validity.zip_mask(truth, |truth, valid| *truth = valid != *wanted),
            None => truth.fill(!wanted),
        };
    }
    match cells.offsets() {
        None => run_fixed(test, cells, truth),
        Some(_) => run_var(test, cells, truth),
    }
    if let Some(validity) = cells.validity() {
        validity.zip_mask(truth, |truth, valid| *truth &= valid);
    }
}

/// Runs a test on cells of fixed size. A test for cells of variable length is `false`.
fn run_fixed(test: &Test, cells: &Cells<'_>, truth: &mut [bool]) {
    match test {
        Test::Number { physical, operator, value } => number(*physical, *operator, value, cells.values(), truth),
        Test::Nan(PhysicalType::F32, wanted) => {
            let (cells, _) = cells.values().as_chunks();
            fill(truth, cells.iter(), |cell| f32::from_le_bytes(*cell).is_nan() == *wanted);
        }
        Test::Nan(PhysicalType::F64, wanted) => {
            let (cells, _) = cells.values().as_chunks();
            fill(truth, cells.iter(), |cell| f64::from_le_bytes(*cell).is_nan() == *wanted);
        }
        Test::SmallSet { size, negated, values } => small_set(*size, *negated, values, cells.values(), truth),
        Test::FirstChar { operator, value } => {
            let first = cells.fixed_cells().map(|cell| cell.first().copied().unwrap_or_default().cast_signed());
            compare(*operator, *value, first, truth);
        }
        Test::Bytes { size: Some(_), signed: true, operator, value } => {
            signed_bytes(*operator, value, cells.fixed_cells(), truth);
        }
        Test::Bytes { size: Some(_), signed: false, operator, value } => {
            compare(*operator, &value[..], cells.fixed_cells(), truth);
        }
        Test::Set { size: Some(_), negated, values } => set(*negated, values, cells.fixed_cells(), truth),
        _ => {}
    }
}

/// Runs a test on cells of variable length. A test for cells of fixed size is `false`.
fn run_var(test: &Test, cells: &Cells<'_>, truth: &mut [bool]) {
    match test {
        Test::Bytes { size: None, operator, value, .. } => compare(*operator, &value[..], cells.var_cells(), truth),
        Test::Set { size: None, negated, values } => set(*negated, values, cells.var_cells(), truth),
        _ => {}
    }
}

#[inline]
fn fill<T>(truth: &mut [bool], cells: impl Iterator<Item = T>, test: impl Fn(T) -> bool) {
    truth.iter_mut().zip(cells).for_each(|(truth, cell)| *truth = test(cell));
}

/// Compares every cell with a value.
#[inline]
fn compare<T: PartialOrd + Copy>(operator: Operator, value: T, cells: impl Iterator<Item = T>, truth: &mut [bool]) {
    match operator {
        Operator::Less => fill(truth, cells, |cell| cell < value),
        Operator::LessOrEqual => fill(truth, cells, |cell| cell <= value),
        Operator::Greater => fill(truth, cells, |cell| cell > value),
        Operator::GreaterOrEqual => fill(truth, cells, |cell| cell >= value),
        Operator::Equal => fill(truth, cells, |cell| cell == value),
        Operator::NotEqual => fill(truth, cells, |cell| cell != value),
    }
}

fn number(physical: PhysicalType, operator: Operator, value: &[u8], bytes: &[u8], truth: &mut [bool]) {
    with_physical!(physical, T => if let Ok(value) = value.try_into() {
        let (cells, _) = bytes.as_chunks();
        compare(operator, T::from_le_bytes(value), cells.iter().map(|cell| T::from_le_bytes(*cell)), truth);
    });
}

/// The maximum number of values for linear search. Larger sets use binary search.
const COMPARE_ALL: usize = 8;

fn small_set(size: usize, negated: bool, values: &[u64], bytes: &[u8], truth: &mut [bool]) {
    fn of<const N: usize>(negated: bool, values: &[u64], bytes: &[u8], truth: &mut [bool]) {
        let (cells, _) = bytes.as_chunks::<N>();
        let cells = cells.iter().map(|cell| small(cell));
        if values.len() <= COMPARE_ALL {
            fill(truth, cells, |cell| values.iter().fold(false, |found, value| found | (*value == cell)) != negated);
        } else {
            fill(truth, cells, |cell| values.binary_search(&cell).is_ok() != negated);
        }
    }
    match size {
        1 => of::<1>(negated, values, bytes, truth),
        2 => of::<2>(negated, values, bytes, truth),
        4 => of::<4>(negated, values, bytes, truth),
        _ => of::<8>(negated, values, bytes, truth),
    }
}

fn set<'a>(negated: bool, values: &[Vec<u8>], cells: impl Iterator<Item = &'a [u8]>, truth: &mut [bool]) {
    fill(truth, cells, |cell| values.binary_search_by(|value| value[..].cmp(cell)).is_ok() != negated);
}

/// Compares strings of signed characters.
fn signed_bytes<'a>(operator: Operator, value: &'a [u8], cells: impl Iterator<Item = &'a [u8]>, truth: &mut [bool]) {
    let holds = |order: std::cmp::Ordering| match operator {
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        Operator::GreaterOrEqual => order.is_ge(),
        Operator::Equal => order.is_eq(),
        Operator::NotEqual => order.is_ne(),
    };
    let signed = |bytes: &'a [u8]| bytes.iter().map(|byte| byte.cast_signed());
    fill(truth, cells, |cell| holds(signed(cell).cmp(signed(value))));
}
