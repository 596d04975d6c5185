//! Conditions over columns of cells.
//!
//! Which type a field has and which operator a test is decided once per column; the loops over cells know both.

use tdb_types::PhysicalType;

use crate::bind::{BoundCondition, Node, Test, small};
use crate::tree::Operator;

/// The cells of one field.
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    /// Their values.
    pub values: Values<'a>,
    /// One byte per cell, 0 where it is null; absent if none is.
    pub validity: Option<&'a [u8]>,
}

/// The values of the cells of one field.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Cells of a fixed size, back to back.
    Fixed(&'a [u8]),
    /// Cells of variable length.
    Var {
        /// Where each begins in `data`, in bytes, and at last where the last one ends. Ascending; a cell that isn't within
        /// the data counts as empty.
        offsets: &'a [u64],
        /// The bytes of all cells.
        data: &'a [u8],
    },
}

impl BoundCondition {
    /// Says for each cell whether the condition holds. `fields` are the cells of [`fields`](Self::fields), in that order;
    /// none where the fragment that the cells are of doesn't have the field: no test of it holds then, as the reference
    /// library has it. Cells that a column doesn't have fulfil no test of it either.
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

/// Runs a test; `truth` is false everywhere before.
fn run(test: &Test, cells: &Cells<'_>, truth: &mut [bool]) {
    match (test, cells.values) {
        (Test::Null(wanted), _) => {
            return match cells.validity {
                Some(validity) => fill(truth, validity.iter(), |valid| (*valid == 0) == *wanted),
                None => truth.fill(!wanted),
            };
        }
        (Test::Number { physical, operator, value }, Values::Fixed(bytes)) => {
            number(*physical, *operator, value, bytes, truth);
        }
        (Test::SmallSet { size, negated, values }, Values::Fixed(bytes)) => {
            small_set(*size, *negated, values, bytes, truth);
        }
        (Test::Bytes { size: Some(size), signed, operator, value }, Values::Fixed(bytes)) => {
            let cells = bytes.chunks_exact((*size).max(1));
            if *signed {
                signed_bytes(*operator, value, cells, truth);
            } else {
                compare(*operator, &value[..], cells, truth);
            }
        }
        (Test::Bytes { size: None, operator, value, .. }, Values::Var { offsets, data }) => {
            compare(*operator, &value[..], var_cells(offsets, data), truth);
        }
        (Test::Set { size: Some(size), negated, values }, Values::Fixed(bytes)) => {
            set(*negated, values, bytes.chunks_exact((*size).max(1)), truth);
        }
        (Test::Set { size: None, negated, values }, Values::Var { offsets, data }) => {
            set(*negated, values, var_cells(offsets, data), truth);
        }
        // Cells of the other kind are not this field's.
        _ => {}
    }
    if let Some(validity) = cells.validity {
        let valid = validity.iter().copied().chain(std::iter::repeat(0));
        truth.iter_mut().zip(valid).for_each(|(truth, valid)| *truth &= valid != 0);
    }
}

#[inline]
fn fill<T>(truth: &mut [bool], cells: impl Iterator<Item = T>, test: impl Fn(T) -> bool) {
    truth.iter_mut().zip(cells).for_each(|(truth, cell)| *truth = test(cell));
}

/// Compares every cell with a value, by the order of their type.
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
    macro_rules! of {
        ($type:ty) => {
            if let Ok(value) = value.try_into() {
                let (cells, _) = bytes.as_chunks();
                let cells = cells.iter().map(|cell| <$type>::from_le_bytes(*cell));
                compare(operator, <$type>::from_le_bytes(value), cells, truth);
            }
        };
    }
    match physical {
        PhysicalType::I8 => of!(i8),
        PhysicalType::U8 => of!(u8),
        PhysicalType::I16 => of!(i16),
        PhysicalType::U16 => of!(u16),
        PhysicalType::I32 => of!(i32),
        PhysicalType::U32 => of!(u32),
        PhysicalType::I64 => of!(i64),
        PhysicalType::U64 => of!(u64),
        PhysicalType::F32 => of!(f32),
        PhysicalType::F64 => of!(f64),
    }
}

/// More values than this are searched by bisection.
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

fn var_cells<'a>(offsets: &'a [u64], data: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    offsets.windows(2).map(|ends| {
        let range = usize::try_from(ends[0]).ok().zip(usize::try_from(ends[1]).ok());
        range.and_then(|(start, end)| data.get(start..end)).unwrap_or_default()
    })
}
