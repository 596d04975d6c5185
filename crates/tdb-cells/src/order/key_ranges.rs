//! Tests of keys against ranges.

use tdb_rtree::DimRange;
use tdb_types::{PhysicalType, ordered_keys};

/// Ranges of ordered keys, in a form suited to the number of cells tested.
#[derive(Debug)]
pub enum KeyRanges<'a> {
    /// More ranges than cells: each cell uses binary search.
    Sorted(&'a [DimRange]),
    /// Few ranges: each cell is compared with all ranges.
    Few(Vec<(u64, u64)>),
    /// A lookup table for ranges with a short total span.
    Table {
        /// The key of the first table entry.
        first: u64,
        /// For each key, `true` if in a range.
        inside: Vec<bool>,
    },
    /// Many ranges with a long total span, indexed by parts of the span.
    Many(Parts),
}

/// Ranges with an index over parts of equal length.
#[derive(Debug)]
pub struct Parts {
    ranges: Vec<(u64, u64)>,
    /// The first key of all ranges.
    first: u64,
    last: u64,
    /// The binary logarithm of the number of keys in a part.
    shift: u32,
    /// 0, followed by the number of ranges starting before the end of each part.
    before: Vec<u32>,
}

impl<'a> KeyRanges<'a> {
    /// Chooses the form for `cells` tested cells. The ranges are sorted and disjoint. String ranges
    /// are ignored.
    pub fn new(ranges: &'a [DimRange], cells: usize) -> Self {
        /// Up to this number of ranges, each cell is compared with all ranges.
        const FEW: usize = 4;
        /// Maximum entries of a table, to stay in the cache of a single core.
        const LONGEST: usize = 1 << 16;
        if ranges.len() > FEW.max(cells) {
            return Self::Sorted(ranges);
        }
        let fixed = ranges.iter().filter_map(|range| match range {
            DimRange::Fixed { lo, hi } => Some((*lo, *hi)),
            DimRange::Var { .. } => None,
        });
        let ranges: Vec<(u64, u64)> = fixed.collect();
        let (Some((first, _)), Some((_, last))) = (ranges.first().copied(), ranges.last().copied()) else {
            return Self::Few(ranges);
        };
        if ranges.len() <= FEW {
            return Self::Few(ranges);
        }
        match usize::try_from(last - first) {
            Ok(span) if span < LONGEST.min(cells) => {
                let mut inside = vec![false; span + 1];
                // The differences are within the span, and therefore valid table indices.
                ranges.iter().for_each(|(lo, hi)| inside[(lo - first) as usize..=(hi - first) as usize].fill(true));
                Self::Table { first, inside }
            }
            _ => Self::Many(Parts::new(ranges, (first, last))),
        }
    }

    /// Clears the mask of cells with values outside of all ranges. `keys` is reusable memory.
    pub fn keep(&self, physical: PhysicalType, values: &[u8], mask: &mut [bool], keys: &mut Vec<u64>) {
        /// The number of cells per round. Small enough for the keys to stay in the L1 cache.
        const CELLS: usize = 2048;
        for (values, mask) in values.chunks(CELLS * physical.size()).zip(mask.chunks_mut(CELLS)) {
            keys.clear();
            ordered_keys(physical, values, keys);
            self.keep_keys(keys, mask);
        }
    }

    fn keep_keys(&self, keys: &[u64], mask: &mut [bool]) {
        let cells = mask.iter_mut().zip(keys);
        match self {
            Self::Sorted(ranges) => cells.for_each(|(wanted, key)| *wanted &= is_in(ranges, *key)),
            // A single comparison suffices, because keys below the range wrap around to values
            // above the range.
            Self::Few(one) if one.len() == 1 => {
                let (lo, hi) = one[0];
                cells.for_each(|(wanted, key)| *wanted &= key.wrapping_sub(lo) <= hi - lo);
            }
            Self::Few(few) => cells.for_each(|(wanted, key)| {
                *wanted &= few.iter().fold(false, |inside, (lo, hi)| inside | (key.wrapping_sub(*lo) <= hi - lo));
            }),
            Self::Table { first, inside } => cells.for_each(|(wanted, key)| {
                let place = usize::try_from(key.wrapping_sub(*first)).unwrap_or(usize::MAX);
                *wanted &= inside.get(place).copied().unwrap_or(false);
            }),
            Self::Many(parts) => cells.for_each(|(wanted, key)| *wanted &= parts.contain(*key)),
        }
    }
}

fn is_in(ranges: &[DimRange], key: u64) -> bool {
    let begins = |range: &DimRange| matches!(range, DimRange::Fixed { lo, .. } if *lo <= key);
    let begun = ranges.partition_point(begins);
    begun.checked_sub(1).is_some_and(|last| matches!(ranges[last], DimRange::Fixed { hi, .. } if key <= hi))
}

impl Parts {
    fn new(ranges: Vec<(u64, u64)>, (first, last): (u64, u64)) -> Self {
        // With one to four parts per range, evenly spread ranges rarely share a part.
        let bits = (2 * ranges.len()).next_power_of_two().trailing_zeros();
        let shift = (u64::BITS - (last - first).leading_zeros()).saturating_sub(bits);
        let parts = ((last - first) >> shift) as usize + 1;
        let mut before = vec![0; parts + 1];
        for (lo, _) in &ranges {
            before[((lo - first) >> shift) as usize + 1] += 1;
        }
        for part in 0..parts {
            before[part + 1] += before[part];
        }
        Self { ranges, first, last, shift, before }
    }

    #[inline]
    fn contain(&self, key: u64) -> bool {
        if !(self.first..=self.last).contains(&key) {
            return false;
        }
        let part = ((key - self.first) >> self.shift) as usize;
        let (start, end) = (self.before[part] as usize, self.before[part + 1] as usize);
        let begun = start + self.ranges[start..end].partition_point(|(lo, _)| *lo <= key);
        begun.checked_sub(1).is_some_and(|range| key <= self.ranges[range].1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Ranges between pairs of these ends.
    fn ranges_of(ends: BTreeSet<u64>) -> Vec<(u64, u64)> {
        let ends: Vec<u64> = ends.into_iter().collect();
        ends.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
    }

    fn check(ends: BTreeSet<u64>, keys: &[u64], cells: usize) {
        let ranges = ranges_of(ends);
        let fixed: Vec<_> = ranges.iter().map(|&(lo, hi)| DimRange::Fixed { lo, hi }).collect();
        let mut keys = keys.to_vec();
        keys.extend(ranges.iter().flat_map(|(lo, hi)| [lo.wrapping_sub(1), *lo, *hi, hi.wrapping_add(1)]));
        let values: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
        let mut mask = vec![true; keys.len()];
        KeyRanges::new(&fixed, cells).keep(PhysicalType::U64, &values, &mut mask, &mut Vec::new());
        let expected: Vec<bool> =
            keys.iter().map(|key| ranges.iter().any(|(lo, hi)| (lo..=hi).contains(&key))).collect();
        assert_eq!(mask, expected);
    }

    proptest! {
        #[test]
        fn keys_in_ranges_anywhere(
            ends in prop::collection::btree_set(any::<u64>(), 0..60),
            keys in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            check(ends, &keys, 1 << 20);
        }

        #[test]
        fn keys_in_ranges_close_together(
            ends in prop::collection::btree_set(0_u64..300, 0..60),
            base in any::<u64>(),
            keys in prop::collection::vec(0_u64..310, 0..50),
            cells in prop::sample::select(vec![1_usize, 1 << 20]),
        ) {
            let base = base.min(u64::MAX - 400);
            let keys: Vec<u64> = keys.iter().map(|key| base + key).collect();
            check(ends.into_iter().map(|end| base + end).collect(), &keys, cells);
        }

        #[test]
        fn keys_in_clustered_ranges(
            ends in prop::collection::btree_set(0_u64..300, 20..60),
            far in any::<u64>(),
            keys in prop::collection::vec(0_u64..310, 0..50),
        ) {
            let mut ends = ends;
            ends.insert(far);
            check(ends, &keys, 16);
        }
    }

    #[test]
    fn range_over_all_keys() {
        check([0, u64::MAX].into(), &[5], 1);
        check([0, 1, 3, 4, 6, 7, 9, 10, u64::MAX - 1, u64::MAX].into(), &[2, 5, 8, 11, u64::MAX], 1 << 20);
    }
}
