//! The ranges of a query in one dimension, prepared for many comparisons.

use std::ops::{Bound, Range};

use crate::column::{Column, FixedColumn, VarColumn};
use crate::{DimRange, DimensionKind, end};

/// The sorted and merged ranges of a dimension.
#[derive(Clone, Debug)]
pub(super) enum Selection<'a> {
    /// All coordinates.
    All,
    /// A single range of keys, the usual case.
    One(u64, u64),
    /// Ranges of keys, disjoint and not adjacent.
    Many(Vec<(u64, u64)>),
    /// Ranges of strings, disjoint and not adjacent.
    Strings(Vec<(&'a [u8], Bound<&'a [u8]>)>),
}

impl<'a> Selection<'a> {
    /// Creates a selection from ranges of the dimension's kind.
    pub(super) fn new(ranges: &'a [DimRange], kind: DimensionKind) -> Self {
        if kind.var {
            return Self::strings(ranges);
        }
        match merge_keys(ranges, kind).as_slice() {
            &[(0, hi)] if hi >= kind.max_key() => Self::All,
            &[(lo, hi)] => Self::One(lo, hi),
            ranges => Self::Many(ranges.to_vec()),
        }
    }

    fn strings(ranges: &'a [DimRange]) -> Self {
        let mut sorted: Vec<_> = ranges
            .iter()
            .filter(|range| !range.is_empty())
            .filter_map(|range| match range {
                DimRange::Var { lo, hi } => Some((lo.as_slice(), end::borrow(hi))),
                DimRange::Fixed { .. } => None,
            })
            .collect();
        sorted.sort_unstable_by_key(|(lo, _)| *lo);
        let mut merged: Vec<(&[u8], Bound<&[u8]>)> = Vec::with_capacity(sorted.len());
        for (lo, hi) in sorted {
            match merged.last_mut() {
                Some((_, last)) if end::touches(*last, lo) => {
                    if end::compare(hi, *last).is_gt() {
                        *last = hi;
                    }
                }
                _ => merged.push((lo, hi)),
            }
        }
        if merged == [(&b""[..], Bound::Unbounded)] { Self::All } else { Self::Strings(merged) }
    }

    /// Compares up to 64 nodes. Returns a mask of nodes that intersect the selection, and a mask of
    /// nodes contained in the selection. Bit `i` represents the `i`-th node.
    #[inline]
    pub(super) fn compare(&self, column: &Column, nodes: Range<usize>) -> (u64, u64) {
        match (self, column) {
            (Self::All, _) => (u64::MAX, u64::MAX),
            (Self::One(lo, hi), Column::Fixed(column)) if !column.has_nan => {
                let (los, his) = column.bounds(nodes);
                compare_one(los, his, *lo, *hi)
            }
            (Self::One(lo, hi), Column::Fixed(column)) => compare_many(&[(*lo, *hi)], column, nodes),
            (Self::Many(ranges), Column::Fixed(column)) => compare_many(ranges, column, nodes),
            (Self::Strings(ranges), Column::Var(column)) => {
                masks(nodes.map(|node| compare_strings(ranges, column, node)))
            }
            // Unreachable, because a selection has the kind of its column.
            _ => (0, 0),
        }
    }
}

/// Sorts ranges of keys, and merges overlapping and adjacent ranges. No value is between
/// consecutive keys.
fn merge_keys(ranges: &[DimRange], kind: DimensionKind) -> Vec<(u64, u64)> {
    let mut sorted: Vec<_> = ranges
        .iter()
        .filter_map(|range| match range {
            DimRange::Fixed { lo, hi } if lo <= hi => Some(kind.widen_zeros(*lo, *hi)),
            _ => None,
        })
        .collect();
    sorted.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::with_capacity(sorted.len());
    for (lo, hi) in sorted {
        match merged.last_mut() {
            Some(last) if lo <= last.1.saturating_add(1) => last.1 = last.1.max(hi),
            _ => merged.push((lo, hi)),
        }
    }
    merged
}

/// Compares nodes with a single range. Branchless, because hits are mostly random.
#[inline]
fn compare_one(los: &[u64], his: &[u64], lo: u64, hi: u64) -> (u64, u64) {
    let (mut hits, mut insides) = (0, 0);
    for (bit, (node_lo, node_hi)) in los.iter().zip(his).take(64).enumerate() {
        hits |= u64::from((*node_lo <= hi) & (lo <= *node_hi)) << bit;
        insides |= u64::from((lo <= *node_lo) & (*node_hi <= hi)) << bit;
    }
    (hits, insides)
}

fn compare_many(ranges: &[(u64, u64)], column: &FixedColumn, nodes: Range<usize>) -> (u64, u64) {
    let (los, his) = column.bounds(nodes);
    masks(los.iter().zip(his).map(|(lo, hi)| {
        let (lo, hi) = column.widen(*lo, *hi);
        let next = ranges.partition_point(|range| range.1 < lo);
        ranges.get(next).map_or((false, false), |range| (range.0 <= hi, range.0 <= lo && hi <= range.1))
    }))
}

fn compare_strings(ranges: &[(&[u8], Bound<&[u8]>)], column: &VarColumn, node: usize) -> (bool, bool) {
    let Some((lo, hi)) = column.bounds(node) else { return (false, false) };
    let next = ranges.partition_point(|range| !end::reaches(range.1, lo));
    let Some((start, last)) = ranges.get(next) else { return (false, false) };
    let hit = hi.is_none_or(|hi| *start <= hi);
    let to_end = hi.map_or(*last == Bound::Unbounded, |hi| end::reaches(*last, hi));
    (hit, *start <= lo && to_end)
}

fn masks(compared: impl Iterator<Item = (bool, bool)>) -> (u64, u64) {
    compared.take(64).enumerate().fold((0, 0), |(hits, insides), (bit, (hit, inside))| {
        (hits | u64::from(hit) << bit, insides | u64::from(inside) << bit)
    })
}
