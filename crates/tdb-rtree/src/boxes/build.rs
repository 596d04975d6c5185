//! Construction of boxes from ranges.

use std::ops::Bound;

use super::{Boxes, Cuts};
use crate::nd_range::check_kind;
use crate::{DimRange, DimensionKind, RTreeError, Result};

/// The places in a dimension, up to two per box, are 32-bit numbers.
const MAX_BOXES: usize = (u32::MAX / 2) as usize;

impl Boxes {
    /// Creates boxes from a list of ranges for each dimension. The ranges at the same index in all
    /// lists form a box.
    ///
    /// Boxes with an empty range are dropped. A bound of `0.0` or `-0.0` includes both zeros.
    ///
    /// # Errors
    /// Fails if the ranges do not match the dimensions, if their number differs between dimensions,
    /// or if there are 2^31 or more boxes.
    pub fn new(kinds: &[DimensionKind], ranges: &[Vec<DimRange>]) -> Result<Self> {
        let len = ranges.first().map_or(0, Vec::len);
        if ranges.len() != kinds.len() {
            return Err(RTreeError::DimensionCount { found: ranges.len(), expected: kinds.len() });
        }
        if len > MAX_BOXES {
            return Err(RTreeError::TooManyBoxes { found: len, limit: MAX_BOXES });
        }
        for (dimension, (ranges, kind)) in ranges.iter().zip(kinds).enumerate() {
            if ranges.len() != len {
                return Err(RTreeError::BoxCount { dimension, found: ranges.len(), expected: len });
            }
            for range in ranges {
                check_kind(dimension, range, *kind)?;
            }
        }
        let holds = |number: &usize| ranges.iter().all(|ranges| !ranges[*number].is_empty());
        let some: Vec<usize> = (0..len).filter(holds).collect();
        let mut boxes = Self { cuts: Vec::new(), starts: Vec::new(), ends: Vec::new(), len: 0, ascending: true };
        for (ranges, kind) in ranges.iter().zip(kinds) {
            let wanted = some.iter().map(|number| &ranges[*number]);
            let (cuts, starts, ends) = if kind.var { of_strings(wanted) } else { of_keys(wanted, *kind) };
            boxes.cuts.push(cuts);
            boxes.starts.push(starts);
            boxes.ends.push(ends);
        }
        boxes.sort(some.len());
        Ok(boxes)
    }

    /// Sorts the boxes and removes duplicates.
    fn sort(&mut self, len: usize) {
        let sides = || self.starts.iter().zip(&self.ends);
        let mut order: Vec<usize> = (0..len).collect();
        order.sort_unstable_by(|a, b| {
            let starts = self.starts.iter().map(|starts| starts[*a].cmp(&starts[*b]));
            let ends = self.ends.iter().map(|ends| ends[*a].cmp(&ends[*b]));
            starts.chain(ends).find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        });
        order.dedup_by(|a, b| sides().all(|(starts, ends)| (starts[*a], ends[*a]) == (starts[*b], ends[*b])));
        for places in self.starts.iter_mut().chain(&mut self.ends) {
            *places = order.iter().map(|number| places[*number]).collect();
        }
        self.len = order.len();
        self.ascending = self.ends.first().is_none_or(|ends| ends.is_sorted());
    }
}

type Sides = (Cuts, Vec<u32>, Vec<u32>);

fn of_keys<'a>(ranges: impl Iterator<Item = &'a DimRange> + Clone, kind: DimensionKind) -> Sides {
    let ranges = ranges.filter_map(|range| match range {
        // `None` represents the end of all keys.
        DimRange::Fixed { lo, hi } => {
            let (lo, hi) = kind.widen_zeros(*lo, *hi);
            Some((lo, hi.checked_add(1)))
        }
        DimRange::Var { .. } => None,
    });
    let mut cuts: Vec<u64> = ranges.clone().flat_map(|(lo, end)| [Some(lo), end]).flatten().collect();
    cuts.sort_unstable();
    cuts.dedup();
    let place = |key: u64| cuts.partition_point(|cut| *cut <= key) as u32;
    let last = cuts.len() as u32 + 1;
    let (starts, ends) = ranges.map(|(lo, end)| (place(lo), end.map_or(last, place))).unzip();
    (Cuts::Keys(cuts), starts, ends)
}

fn of_strings<'a>(ranges: impl Iterator<Item = &'a DimRange> + Clone) -> Sides {
    // The first string after each range.
    let ends: Vec<Option<Vec<u8>>> = ranges
        .clone()
        .map(|range| match range {
            DimRange::Var { hi: Bound::Included(hi), .. } => Some([&hi[..], &[0]].concat()),
            DimRange::Var { hi: Bound::Excluded(hi), .. } => Some(hi.clone()),
            DimRange::Var { hi: Bound::Unbounded, .. } | DimRange::Fixed { .. } => None,
        })
        .collect();
    let starts = ranges.map(|range| match range {
        DimRange::Var { lo, .. } => &lo[..],
        DimRange::Fixed { .. } => &[],
    });
    let starts: Vec<&[u8]> = starts.collect();
    let mut cuts: Vec<&[u8]> = starts.iter().copied().chain(ends.iter().flatten().map(|end| &end[..])).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let place = |string: &[u8]| cuts.partition_point(|cut| *cut <= string) as u32;
    let last = cuts.len() as u32 + 1;
    let starts = starts.iter().map(|start| place(start)).collect();
    let ends = ends.iter().map(|end| end.as_deref().map_or(last, place)).collect();
    (Cuts::Strings(cuts.into_iter().map(<[u8]>::to_vec).collect()), starts, ends)
}
