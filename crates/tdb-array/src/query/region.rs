//! The part of the domain that a query asks for.

use tdb_rtree::DimRange;

/// The cross product of ranges on each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    dimensions: Vec<Vec<DimRange>>,
}

impl Region {
    /// `dimensions[d]` holds the ranges on dimension `d`, or nothing for all of it, which `limits[d]` then stands for.
    pub(super) fn new(mut dimensions: Vec<Vec<DimRange>>, limits: Vec<DimRange>) -> Self {
        for (ranges, limit) in dimensions.iter_mut().zip(limits) {
            if ranges.is_empty() {
                ranges.push(limit);
            }
        }
        Self { dimensions }
    }

    /// For each dimension its ranges in the order in which they were given; they may overlap.
    pub(crate) fn ranges(&self) -> &[Vec<DimRange>] {
        &self.dimensions
    }

    /// Whether each dimension has one range only.
    pub(crate) fn is_single(&self) -> bool {
        self.dimensions.iter().all(|ranges| ranges.len() == 1)
    }

    /// For each dimension its ranges in ascending order, overlapping and touching ones merged.
    pub(crate) fn merged(&self) -> Vec<Vec<DimRange>> {
        self.dimensions.iter().map(|ranges| merge(ranges)).collect()
    }
}

impl Region {
    /// The same cells, each of them once.
    pub(crate) fn distinct(&self) -> Self {
        Self { dimensions: self.merged() }
    }
}

fn merge(ranges: &[DimRange]) -> Vec<DimRange> {
    let mut sorted = ranges.to_vec();
    sorted.sort_by(|a, b| match (a, b) {
        (DimRange::Fixed { lo: a, .. }, DimRange::Fixed { lo: b, .. }) => a.cmp(b),
        (DimRange::Var { lo: a, .. }, DimRange::Var { lo: b, .. }) => a.cmp(b),
        _ => std::cmp::Ordering::Equal,
    });
    let mut merged: Vec<DimRange> = Vec::with_capacity(sorted.len());
    for range in sorted {
        match (merged.last_mut(), &range) {
            (Some(DimRange::Fixed { hi, .. }), DimRange::Fixed { lo, hi: new }) if *lo <= hi.saturating_add(1) => {
                *hi = (*hi).max(*new);
            }
            (Some(DimRange::Var { hi: None, .. }), _) => {}
            (Some(DimRange::Var { hi: Some(hi), .. }), DimRange::Var { lo, hi: new }) if lo <= hi => match new {
                None => {
                    if let Some(DimRange::Var { hi, .. }) = merged.last_mut() {
                        *hi = None;
                    }
                }
                Some(new) => {
                    if new > hi {
                        new.clone_into(hi);
                    }
                }
            },
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(lo: u64, hi: u64) -> DimRange {
        DimRange::Fixed { lo, hi }
    }

    fn var(lo: &str, hi: Option<&str>) -> DimRange {
        DimRange::Var { lo: lo.into(), hi: hi.map(Into::into) }
    }

    #[test]
    fn merges_what_overlaps_or_touches() {
        let ranges = [fixed(8, 9), fixed(1, 3), fixed(2, 5), fixed(6, 6), fixed(u64::MAX, u64::MAX)];
        assert_eq!(merge(&ranges), [fixed(1, 6), fixed(8, 9), fixed(u64::MAX, u64::MAX)]);
        let ranges = [var("c", None), var("a", Some("b")), var("x", Some("y")), var("aa", Some("ab"))];
        assert_eq!(merge(&ranges), [var("a", Some("b")), var("c", None)]);
        assert_eq!(merge(&[var("a", Some("c")), var("b", None)]), [var("a", None)]);
    }
}
