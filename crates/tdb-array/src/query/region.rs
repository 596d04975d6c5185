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

    /// Leaves of the first dimension what some ranges hold; may be nothing.
    pub(super) fn intersect(&mut self, some: &[Vec<DimRange>]) {
        for (own, some) in self.dimensions.iter_mut().zip(some) {
            let (a, b) = (DimRange::union_of(own), DimRange::union_of(some));
            let both = b
                .iter()
                .flat_map(|range| DimRange::narrowed(&a, range).iter().filter_map(|other| other.intersection(range)));
            *own = both.collect();
        }
    }

    /// Whether two ranges of a dimension have something in common.
    pub(crate) fn overlaps(&self) -> bool {
        self.dimensions.iter().any(|ranges| DimRange::any_overlap(ranges))
    }

    /// Whether each dimension has one range only.
    pub(crate) fn is_single(&self) -> bool {
        self.dimensions.iter().all(|ranges| ranges.len() == 1)
    }

    /// For each dimension its ranges in ascending order, overlapping and touching ones merged.
    pub(crate) fn merged(&self) -> Vec<Vec<DimRange>> {
        self.dimensions.iter().map(|ranges| DimRange::union_of(ranges)).collect()
    }

    /// How many cells a dense array has in ranges that don't overlap, or the greatest number if they are more.
    pub(crate) fn cells(&self) -> u64 {
        let along = |range: &DimRange| match range {
            DimRange::Fixed { lo, hi } => hi.saturating_sub(*lo).saturating_add(1),
            DimRange::Var { .. } => 0,
        };
        let sides = self.dimensions.iter().map(|ranges| ranges.iter().map(along).fold(0, u64::saturating_add));
        sides.fold(1, u64::saturating_mul)
    }

    /// The same cells, each of them once.
    pub(crate) fn distinct(&self) -> Self {
        Self { dimensions: self.merged() }
    }
}
