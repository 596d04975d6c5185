//! The part of the domain selected by a query.

use tdb_rtree::DimRange;

/// The cross product of the ranges on each dimension. On each dimension, a coordinate must be in at
/// least one range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The ranges on each dimension, ascending and not adjacent.
    dimensions: Vec<Vec<DimRange>>,
}

impl Region {
    /// Creates a region. `given[d]` contains the ranges on dimension `d` in any order. If
    /// `given[d]` is empty, `limits[d]` is used.
    pub fn new(given: &[Vec<DimRange>], limits: Vec<DimRange>) -> Self {
        let union = |(given, limits): (&Vec<DimRange>, DimRange)| match given.is_empty() {
            true => vec![limits],
            false => DimRange::union_of(given),
        };
        Self { dimensions: given.iter().zip(limits).map(union).collect() }
    }

    /// Returns the ranges of each dimension, in ascending order and not adjacent.
    pub fn ranges(&self) -> &[Vec<DimRange>] {
        &self.dimensions
    }

    /// Intersects the first `some.len()` dimensions with further ranges. The result may be empty.
    pub fn intersect(&mut self, some: &[Vec<DimRange>]) {
        for (own, some) in self.dimensions.iter_mut().zip(some) {
            let some = DimRange::union_of(some);
            let both = some
                .iter()
                .flat_map(|range| DimRange::narrowed(own, range).iter().filter_map(|other| other.intersection(range)));
            *own = both.collect();
        }
    }

    /// Returns `true` if each dimension has a single range.
    pub fn is_single(&self) -> bool {
        self.dimensions.iter().all(|ranges| ranges.len() == 1)
    }

    /// Returns the number of cells of a dense array in the region, or the maximum of `u64` if there
    /// are more.
    pub fn cells(&self) -> u64 {
        let along = |range: &DimRange| match range {
            DimRange::Fixed { lo, hi } => hi.saturating_sub(*lo).saturating_add(1),
            DimRange::Var { .. } => 0,
        };
        let sides = self.dimensions.iter().map(|ranges| ranges.iter().map(along).fold(0, u64::saturating_add));
        sides.fold(1, u64::saturating_mul)
    }
}
