//! The part of the domain that a query asks for.

use tdb_rtree::DimRange;

/// The cross product of ranges on each dimension: of each dimension those coordinates that lie in at least one of its ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Ascending, and with coordinates in between.
    dimensions: Vec<Vec<DimRange>>,
}

impl Region {
    /// `given[d]` holds the ranges on dimension `d` in any order, or nothing for all of it, which `limits[d]` then stands for.
    pub fn new(given: &[Vec<DimRange>], limits: Vec<DimRange>) -> Self {
        let union = |(given, limits): (&Vec<DimRange>, DimRange)| match given.is_empty() {
            true => vec![limits],
            false => DimRange::union_of(given),
        };
        Self { dimensions: given.iter().zip(limits).map(union).collect() }
    }

    /// For each dimension its ranges in ascending order, between which there is something.
    pub fn ranges(&self) -> &[Vec<DimRange>] {
        &self.dimensions
    }

    /// Leaves of the first dimensions what some ranges hold; may be nothing.
    pub fn intersect(&mut self, some: &[Vec<DimRange>]) {
        for (own, some) in self.dimensions.iter_mut().zip(some) {
            let some = DimRange::union_of(some);
            let both = some
                .iter()
                .flat_map(|range| DimRange::narrowed(own, range).iter().filter_map(|other| other.intersection(range)));
            *own = both.collect();
        }
    }

    /// Whether each dimension has one range only.
    pub fn is_single(&self) -> bool {
        self.dimensions.iter().all(|ranges| ranges.len() == 1)
    }

    /// How many cells a dense array has in the ranges, or the greatest number if they are more.
    pub fn cells(&self) -> u64 {
        let along = |range: &DimRange| match range {
            DimRange::Fixed { lo, hi } => hi.saturating_sub(*lo).saturating_add(1),
            DimRange::Var { .. } => 0,
        };
        let sides = self.dimensions.iter().map(|ranges| ranges.iter().map(along).fold(0, u64::saturating_add));
        sides.fold(1, u64::saturating_mul)
    }
}
