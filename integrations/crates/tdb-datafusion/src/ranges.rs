//! Ranges on dimensions, derived from conditions.

use tdb_array::tdb_condition::{Condition, Literal, LiteralKind, Operator};
use tdb_array::tdb_rtree::DimRange;
use tdb_array::tdb_schema::{ArraySchema, Dimension};
use tdb_array::tdb_types::{PhysicalType, Scalar};
use tdb_array::{ArrayError, Coordinate, Query};

/// Maximum number of ranges per dimension. Above this number, a single range covers them all.
const MOST_RANGES: usize = 100_000;

/// Ranges per dimension, without overlaps. A cell has to be in one of the ranges of each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sides(Vec<Vec<DimRange>>);

/// Ranges on a dimension, derived from a condition.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    pub(crate) ranges: Vec<DimRange>,
    /// `true` if the condition holds for every cell in the ranges.
    pub(crate) exact: bool,
}

impl Sides {
    /// Creates one range per dimension.
    pub(crate) fn of(ranges: Vec<DimRange>) -> Self {
        Self(ranges.into_iter().map(|range| vec![range]).collect())
    }

    /// Intersects with the ranges of a condition. Returns the new ranges and the remaining
    /// condition. Returns `None` if nothing matches.
    pub(crate) fn within(mut self, schema: &ArraySchema, condition: Condition) -> Option<(Self, Option<Condition>)> {
        let nodes = match condition {
            Condition::And(nodes) => nodes,
            one => vec![one],
        };
        let mut left = Vec::new();
        for node in nodes {
            let mut is_settled = false;
            for (index, dimension) in schema.dimensions().iter().enumerate() {
                let Some(extent) = extent(&node, dimension) else { continue };
                let side = intersection(&self.0[index], &extent.ranges);
                if side.is_empty() {
                    return None;
                }
                self.0[index] = side;
                is_settled |= extent.exact;
            }
            if !is_settled {
                left.push(node);
            }
        }
        let left = match left.len() {
            0 | 1 => left.pop(),
            _ => Some(Condition::And(left)),
        };
        Some((self, left))
    }

    /// Applies the ranges to a query without ranges.
    ///
    /// # Errors
    /// The query rejects a range.
    pub(crate) fn narrow(&self, mut query: Query, schema: &ArraySchema) -> Result<Query, ArrayError> {
        for (index, dimension) in schema.dimensions().iter().enumerate() {
            let limits = schema.limits(index);
            let Some(side) = self.0.get(index) else { continue };
            // Queries without ranges cover the whole domain.
            if matches!(&side[..], [one] if *one == limits) {
                continue;
            }
            let ranges = side.iter().map(|range| bounds(dimension, range));
            query = query.ranges(dimension.name(), ranges.collect::<Vec<_>>())?;
        }
        Ok(query)
    }

    /// Returns the number of cells of a dense array within the ranges, or `None` if the number
    /// overflows.
    pub(crate) fn cells(&self) -> Option<u64> {
        let side = |ranges: &Vec<DimRange>| {
            ranges.iter().try_fold(0u64, |sum, range| match range {
                DimRange::Fixed { lo, hi } => sum.checked_add((hi - lo).checked_add(1)?),
                DimRange::Var { .. } => None,
            })
        };
        self.0.iter().map(side).try_fold(1u64, |all, side| all.checked_mul(side?))
    }

    /// Formats the ranges, except for dimensions with the whole domain.
    pub(crate) fn display(&self, schema: &ArraySchema) -> Vec<String> {
        let dimensions = schema.dimensions().iter().enumerate().zip(&self.0);
        let text = dimensions.filter_map(|((index, dimension), ranges)| {
            if matches!(&ranges[..], [one] if *one == schema.limits(index)) {
                return None;
            }
            let shown: Vec<String> =
                ranges.iter().take(4).map(|range| range.display(dimension.kind()).to_string()).collect();
            let more = match ranges.len().saturating_sub(4) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Some(format!("{} in {}{more}", dimension.name(), shown.join(", ")))
        });
        text.collect()
    }
}

/// Converts a range to bounds of a query.
fn bounds(dimension: &Dimension, range: &DimRange) -> (std::ops::Bound<Coordinate>, std::ops::Bound<Coordinate>) {
    use std::ops::Bound;
    match range {
        DimRange::Fixed { lo, hi } => {
            let end = |key: &u64| Bound::Included(Scalar::from_key(dimension.physical(), *key).into());
            (end(lo), end(hi))
        }
        DimRange::Var { lo, hi } => (Bound::Included(Coordinate::Bytes(lo.clone())), hi.clone().map(Coordinate::Bytes)),
    }
}

/// Returns the ranges on a dimension that satisfy a condition. Returns `None` if the condition does
/// not restrict the dimension.
pub(crate) fn extent(condition: &Condition, dimension: &Dimension) -> Option<Extent> {
    let found = match condition {
        Condition::Compare { field, operator, value } if field == dimension.name() => {
            compared(dimension, *operator, value)?
        }
        Condition::Member { field, negated: false, values } if field == dimension.name() => {
            let exact = !dimension.physical().is_float();
            let each = values.iter().map(|value| value_range(dimension, values.kind(), value));
            Extent { ranges: each.collect::<Option<Vec<_>>>()?, exact }
        }
        Condition::And(nodes) => {
            let mut all: Option<Extent> = None;
            let mut says_all = true;
            for node in nodes {
                match (extent(node, dimension), &mut all) {
                    (None, _) => says_all = false,
                    (Some(one), None) => all = Some(one),
                    (Some(one), Some(all)) => {
                        all.ranges = intersection(&all.ranges, &one.ranges);
                        all.exact &= one.exact;
                    }
                }
            }
            let all = all?;
            Extent { exact: all.exact && says_all, ..all }
        }
        Condition::Or(nodes) => {
            let mut all = Extent { ranges: Vec::new(), exact: true };
            for node in nodes {
                let one = extent(node, dimension)?;
                all.ranges.extend(one.ranges);
                all.exact &= one.exact;
            }
            all
        }
        _ => return None,
    };
    let ranges = DimRange::union_of(&found.ranges);
    if ranges.len() <= MOST_RANGES {
        return Some(Extent { ranges, ..found });
    }
    let mut hull = ranges.first()?.clone();
    ranges.iter().for_each(|range| hull.expand(range));
    Some(Extent { ranges: vec![hull], exact: false })
}

fn compared(dimension: &Dimension, operator: Operator, value: &Literal) -> Option<Extent> {
    if value.kind() != LiteralKind::Cell {
        return None;
    }
    if dimension.is_var() {
        return strings_compared(operator, value.bytes());
    }
    let (lo, hi) = match DimRange::everything(dimension.kind()) {
        DimRange::Fixed { lo, hi } => (lo, hi),
        DimRange::Var { .. } => return None,
    };
    let (low, high) = keys(dimension.physical(), value.bytes())?;
    // Floats keep both bounds, because zeros have two keys. The remaining condition decides.
    let exact = !dimension.physical().is_float();
    let step = u64::from(exact);
    let range = match operator {
        Operator::Less => high.checked_sub(step).map(|hi| (lo, hi)),
        Operator::LessOrEqual => Some((lo, high)),
        Operator::Greater => low.checked_add(step).map(|lo| (lo, hi)),
        Operator::GreaterOrEqual => Some((low, hi)),
        Operator::Equal => Some((low, high)),
        Operator::NotEqual => return None,
    };
    let range = range.filter(|(lo, hi)| lo <= hi).map(|(lo, hi)| DimRange::Fixed { lo, hi });
    Some(Extent { ranges: range.into_iter().collect(), exact })
}

fn strings_compared(operator: Operator, value: &[u8]) -> Option<Extent> {
    let after = || [value, &[0]].concat();
    let range = match operator {
        Operator::Less => DimRange::strings_before(Vec::new(), value),
        Operator::LessOrEqual => DimRange::strings(Vec::new(), value),
        Operator::Greater => DimRange::strings_from(after()),
        Operator::GreaterOrEqual => DimRange::strings_from(value),
        Operator::Equal => DimRange::strings(value, value),
        Operator::NotEqual => return None,
    };
    let ranges = if range.is_empty() { Vec::new() } else { vec![range] };
    Some(Extent { ranges, exact: true })
}

fn value_range(dimension: &Dimension, kind: LiteralKind, value: &[u8]) -> Option<DimRange> {
    if kind != LiteralKind::Cell {
        return None;
    }
    if dimension.is_var() {
        return Some(DimRange::strings(value, value));
    }
    let (lo, hi) = keys(dimension.physical(), value)?;
    Some(DimRange::Fixed { lo, hi })
}

/// Returns the minimum and maximum key of a value. Zeros of both signs are equal, with adjacent
/// keys. Returns `None` for NaN.
fn keys(physical: PhysicalType, bytes: &[u8]) -> Option<(u64, u64)> {
    let scalar = Scalar::from_le_bytes(physical, bytes)?;
    match scalar {
        Scalar::F32(value) if value.is_nan() => None,
        Scalar::F64(value) if value.is_nan() => None,
        Scalar::F32(0.0) => Some((Scalar::F32(-0.0).key(), Scalar::F32(0.0).key())),
        Scalar::F64(0.0) => Some((Scalar::F64(-0.0).key(), Scalar::F64(0.0).key())),
        other => Some((other.key(), other.key())),
    }
}

/// Intersects two sorted lists of ranges without overlaps.
fn intersection(a: &[DimRange], b: &[DimRange]) -> Vec<DimRange> {
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let near = few.iter().flat_map(|range| DimRange::narrowed(many, range).iter().map(move |other| (range, other)));
    near.filter_map(|(range, other)| range.intersection(other)).collect()
}
