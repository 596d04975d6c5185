//! Lists of ranges in one dimension.

use std::cmp::Ordering;

use crate::{DimRange, end};

impl DimRange {
    /// Returns the union of the ranges, as ascending ranges that are disjoint and not adjacent. The
    /// input may be in any order, but must consist of ranges of the same kind.
    #[must_use]
    pub fn union_of(ranges: &[Self]) -> Vec<Self> {
        let mut union: Vec<Self> = Vec::new();
        for range in sorted(ranges) {
            match union.last_mut() {
                Some(last) if last.is_followed_by(range) => last.expand(range),
                _ => union.push(range.clone()),
            }
        }
        union
    }

    /// Returns the ranges that intersect `bounds`. The input must be ascending and disjoint.
    #[must_use]
    pub fn narrowed<'a>(ranges: &'a [Self], bounds: &Self) -> &'a [Self] {
        let start = ranges.partition_point(|range| range.ends_before(bounds));
        let end = ranges.partition_point(|range| !bounds.ends_before(range));
        ranges.get(start..end).unwrap_or_default()
    }

    /// Returns `true` if all coordinates of this range are less than those of `other`.
    fn ends_before(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Fixed { hi, .. }, Self::Fixed { lo, .. }) => hi < lo,
            (Self::Var { hi, .. }, Self::Var { lo, .. }) => !end::reaches(end::borrow(hi), lo),
            _ => false,
        }
    }

    /// Returns `true` if no coordinate is between this range and `next`, which must not start
    /// earlier.
    fn is_followed_by(&self, next: &Self) -> bool {
        match (self, next) {
            (Self::Fixed { hi, .. }, Self::Fixed { lo, .. }) => *lo <= hi.saturating_add(1),
            (Self::Var { hi, .. }, Self::Var { lo, .. }) => end::touches(end::borrow(hi), lo),
            _ => true,
        }
    }
}

/// Returns the non-empty ranges, sorted by start.
fn sorted(ranges: &[DimRange]) -> Vec<&DimRange> {
    let mut sorted: Vec<&DimRange> = ranges.iter().filter(|range| !range.is_empty()).collect();
    let start = |a: &&DimRange, b: &&DimRange| match (a, b) {
        (DimRange::Fixed { lo: a, .. }, DimRange::Fixed { lo: b, .. }) => a.cmp(b),
        (DimRange::Var { lo: a, .. }, DimRange::Var { lo: b, .. }) => a.cmp(b),
        _ => Ordering::Equal,
    };
    sorted.sort_by(start);
    sorted
}
