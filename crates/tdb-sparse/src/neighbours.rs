//! Search for intersecting boxes.

use std::ops::ControlFlow;

use tdb_rtree::{DimRange, NdRange};

/// Calls `each` for the index pairs of intersecting boxes until `each` breaks.
///
/// If data arrives over time or by region, the boxes are mostly disjoint along a dimension. The
/// search sorts the boxes along the most selective dimension and compares only boxes with an
/// overlap in this dimension.
///
/// Returns the result of the last call, or `None` if more than `most` pairs would have to be
/// compared.
pub fn each_pair<B>(
    boxes: &[NdRange],
    most: usize,
    mut each: impl FnMut(usize, usize) -> ControlFlow<B>,
) -> Option<ControlFlow<B>> {
    let dimensions = boxes.first().map_or(0, |first| first.0.len());
    let sorted = (0..dimensions).filter_map(|dimension| Sorted::along(dimension, boxes));
    let Some(best) = sorted.min_by_key(Sorted::pairs) else { return Some(ControlFlow::Continue(())) };
    if best.pairs() > most {
        return None;
    }
    for (place, (own, reach)) in best.order.iter().zip(&best.reach).enumerate() {
        for other in best.order.get(place + 1..*reach).unwrap_or_default() {
            if boxes[*own].intersects(&boxes[*other])
                && let ControlFlow::Break(found) = each(*own, *other)
            {
                return Some(ControlFlow::Break(found));
            }
        }
    }
    Some(ControlFlow::Continue(()))
}

/// Boxes sorted by start along a dimension.
struct Sorted {
    order: Vec<usize>,
    /// For each box in that order, the position of the first later box that begins after the end of
    /// this box.
    reach: Vec<usize>,
}

impl Sorted {
    /// Returns `None` if the boxes mix fixed-size and string ranges, or if a box does not have the
    /// dimension.
    fn along(dimension: usize, boxes: &[NdRange]) -> Option<Self> {
        let side = |index: &usize| boxes[*index].0.get(dimension);
        let mut order: Vec<usize> = (0..boxes.len()).collect();
        let is_of_one_kind = |numbers: bool| {
            order.iter().all(|index| side(index).is_some_and(|side| matches!(side, DimRange::Fixed { .. }) == numbers))
        };
        if !is_of_one_kind(true) && !is_of_one_kind(false) {
            return None;
        }
        order.sort_by(|a, b| side(a).map(start).cmp(&side(b).map(start)));
        let reach = order.iter().enumerate().map(|(place, own)| {
            let begins_within =
                |other: &usize| side(own).zip(side(other)).is_some_and(|(own, other)| begins_in(own, other));
            place + 1 + order[place + 1..].partition_point(begins_within)
        });
        Some(Self { reach: reach.collect(), order })
    }

    /// Returns the number of pairs to compare.
    fn pairs(&self) -> usize {
        self.reach.iter().enumerate().map(|(place, reach)| reach - place - 1).fold(0, usize::saturating_add)
    }
}

/// Returns the sort key of the start of a range, among ranges of the same kind.
fn start(range: &DimRange) -> (u64, &[u8]) {
    match range {
        DimRange::Fixed { lo, .. } => (*lo, &[]),
        DimRange::Var { lo, .. } => (0, lo),
    }
}

/// Returns `true` if `later` begins within `range`. `later` must not begin before `range`.
fn begins_in(range: &DimRange, later: &DimRange) -> bool {
    match later {
        DimRange::Fixed { lo, .. } => matches!(range, DimRange::Fixed { hi, .. } if lo <= hi),
        DimRange::Var { lo, .. } => range.contains_string(lo),
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use tdb_rtree::{DimRange, NdRange};

    use super::each_pair;

    fn pairs(boxes: &[NdRange]) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let ended = each_pair(boxes, usize::MAX, |a, b| {
            found.push((a.min(b), a.max(b)));
            ControlFlow::<()>::Continue(())
        });
        assert!(ended.is_some());
        found.sort_unstable();
        found
    }

    fn all(boxes: &[NdRange]) -> Vec<(usize, usize)> {
        let pairs = (0..boxes.len()).flat_map(|a| (a + 1..boxes.len()).map(move |b| (a, b)));
        pairs.filter(|(a, b)| boxes[*a].intersects(&boxes[*b])).collect()
    }

    #[test]
    fn finds_all_intersecting_pairs() {
        let mut seed = 7u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..200 {
            let boxes = (0..next(20)).map(|_| {
                let lo = next(30);
                let (first, last) = (next(20), next(20));
                let string = |number: u64| format!("{}", (b'a' + number as u8) as char);
                let strings = match next(4) {
                    0 => DimRange::strings_from(string(first)),
                    _ => DimRange::strings(string(first.min(last)), string(first.max(last))),
                };
                NdRange(vec![DimRange::Fixed { lo, hi: lo + next(10) }, strings])
            });
            let boxes: Vec<NdRange> = boxes.collect();
            assert_eq!(pairs(&boxes), all(&boxes), "{boxes:?}");
        }
    }

    #[test]
    fn ends_of_types_and_boxes_of_other_kinds() {
        let number = |lo, hi| NdRange(vec![DimRange::Fixed { lo, hi }]);
        assert_eq!(pairs(&[number(u64::MAX, u64::MAX), number(0, 0), number(0, u64::MAX)]), [(0, 2), (1, 2)]);
        assert_eq!(pairs(&[number(0, 9), NdRange(vec![DimRange::strings_from("")])]), []);
        assert_eq!(pairs(&[number(0, 9), NdRange(Vec::new())]), []);
        assert_eq!(pairs(&[]), []);
        let many: Vec<NdRange> = (0..4000).map(|_| number(1, 2)).collect();
        assert!(each_pair(&many, 1 << 22, |_, _| ControlFlow::Break(())).is_none());
        let ended = each_pair(&many[..9], 1 << 22, |a, b| ControlFlow::Break((a, b)));
        assert_eq!(ended, Some(ControlFlow::Break((0, 1))));
    }
}
