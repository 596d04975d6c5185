//! Many ranges of one dimension.

use std::cmp::Ordering;
use std::ops::Bound;

use crate::{DimRange, end};

impl DimRange {
    /// The coordinates that are in some of the ranges, as ranges in ascending order between which there is something. They may be
    /// given in any order; all must be of one kind.
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

    /// Whether some coordinate is in two of the ranges, which may be given in any order.
    #[must_use]
    pub fn any_overlap(ranges: &[Self]) -> bool {
        let sorted = sorted(ranges);
        // The first two ranges of which one begins before the other ends follow each other.
        sorted.windows(2).any(|pair| pair[0].intersects(pair[1]))
    }

    /// Of ranges in ascending order that have nothing in common, those that share something with `bounds`.
    #[must_use]
    pub fn narrowed<'a>(ranges: &'a [Self], bounds: &Self) -> &'a [Self] {
        let start = ranges.partition_point(|range| range.ends_before(bounds));
        let end = ranges.partition_point(|range| !bounds.ends_before(range));
        ranges.get(start..end).unwrap_or_default()
    }

    /// Whether all coordinates of this range are below all of `other`.
    fn ends_before(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Fixed { hi, .. }, Self::Fixed { lo, .. }) => hi < lo,
            (Self::Var { hi, .. }, Self::Var { lo, .. }) => !end::reaches(end::borrow(hi), lo),
            _ => false,
        }
    }

    /// Whether no coordinate lies between this range and one that doesn't begin before it.
    fn is_followed_by(&self, next: &Self) -> bool {
        match (self, next) {
            (Self::Fixed { hi, .. }, Self::Fixed { lo, .. }) => *lo <= hi.saturating_add(1),
            (Self::Var { hi, .. }, Self::Var { lo, .. }) => end::touches(end::borrow(hi), lo),
            _ => true,
        }
    }
}

/// The ranges that hold something, by where they begin.
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

/// Many ranges of one dimension, ready to be asked how many of them hold a coordinate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeCounts(Sides);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Sides {
    /// Where ranges start and where they end, each ascending.
    Keys(Vec<u64>, Vec<u64>),
    Strings(Vec<Vec<u8>>, Vec<Bound<Vec<u8>>>),
}

impl RangeCounts {
    /// Of ranges of one kind, in any order; empty ones hold nothing.
    #[must_use]
    pub fn new(ranges: &[DimRange]) -> Self {
        let holding = || ranges.iter().filter(|range| !range.is_empty());
        if let Some(DimRange::Var { .. }) = ranges.first() {
            let sides = holding().filter_map(|range| match range {
                DimRange::Var { lo, hi } => Some((lo.clone(), hi.clone())),
                DimRange::Fixed { .. } => None,
            });
            let (mut starts, mut ends): (Vec<_>, Vec<_>) = sides.unzip();
            starts.sort_unstable();
            ends.sort_unstable_by(|a, b| end::compare(end::borrow(a), end::borrow(b)));
            return Self(Sides::Strings(starts, ends));
        }
        let sides = holding().filter_map(|range| match range {
            DimRange::Fixed { lo, hi } => Some((*lo, *hi)),
            DimRange::Var { .. } => None,
        });
        let (mut starts, mut ends): (Vec<_>, Vec<_>) = sides.unzip();
        starts.sort_unstable();
        ends.sort_unstable();
        Self(Sides::Keys(starts, ends))
    }

    /// How many of the ranges hold the coordinate with this key; none if they are of strings.
    #[must_use]
    pub fn of_key(&self, key: u64) -> usize {
        let Sides::Keys(starts, ends) = &self.0 else { return 0 };
        starts.partition_point(|lo| *lo <= key).saturating_sub(ends.partition_point(|hi| *hi < key))
    }

    /// How many of the ranges hold the string; none if they aren't of strings.
    #[must_use]
    pub fn of_string(&self, string: &[u8]) -> usize {
        let Sides::Strings(starts, ends) = &self.0 else { return 0 };
        let over = ends.partition_point(|hi| !end::reaches(end::borrow(hi), string));
        starts.partition_point(|lo| lo.as_slice() <= string).saturating_sub(over)
    }
}
