//! Decomposition into disjoint subarrays.

use crate::{DimRange, NdRange};

/// The keys of the lowest and highest coordinate in a dimension.
type Ends = (u64, u64);
/// The ends of a subarray in each dimension.
type Sides = Vec<Ends>;

/// Converts subarrays of a dense array to disjoint subarrays with the same cells, sorted by the
/// first dimension, then the second, and so on. Returns no subarrays if a range is of strings.
#[must_use]
pub fn disjoint(boxes: Vec<NdRange>) -> Vec<NdRange> {
    let sides = boxes.into_iter().map(|NdRange(ranges)| {
        let side = |range: DimRange| match range {
            DimRange::Fixed { lo, hi } => Some((lo, hi)),
            DimRange::Var { .. } => None,
        };
        ranges.into_iter().map(side).collect::<Option<Vec<_>>>()
    });
    let mut sides: Vec<Sides> = sides.collect::<Option<_>>().unwrap_or_default();
    sides.sort_unstable();
    sides.dedup();
    let views: Vec<&[Ends]> = sides.iter().map(Vec::as_slice).collect();
    let fixed =
        |sides: Vec<(u64, u64)>| NdRange(sides.into_iter().map(|(lo, hi)| DimRange::Fixed { lo, hi }).collect());
    cut(&views).into_iter().map(fixed).collect()
}

/// Converts subarrays, given by their ends in the remaining dimensions.
fn cut(boxes: &[&[Ends]]) -> Vec<Sides> {
    if boxes.is_empty() || boxes.iter().any(|sides| sides.is_empty()) {
        // No dimensions remain to be cut.
        return boxes.first().map(|_| Vec::new()).into_iter().collect();
    }
    // The starts of subarrays, and the keys after their ends. No key follows the maximum.
    let starts = boxes.iter().map(|sides| sides[0].0);
    let mut starts: Vec<u64> = starts.chain(boxes.iter().filter_map(|sides| sides[0].1.checked_add(1))).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut slabs: Vec<(Ends, Vec<Sides>)> = Vec::new();
    for (place, &start) in starts.iter().enumerate() {
        let end = starts.get(place + 1).map_or(u64::MAX, |next| next - 1);
        let within: Vec<&[Ends]> =
            boxes.iter().filter(|sides| sides[0].0 <= start && end <= sides[0].1).map(|sides| &sides[1..]).collect();
        if within.is_empty() {
            continue;
        }
        let inner = cut(&within);
        match slabs.last_mut() {
            Some(((_, last), before)) if last.checked_add(1) == Some(start) && *before == inner => *last = end,
            _ => slabs.push(((start, end), inner)),
        }
    }
    let whole = |((start, end), inner): (Ends, Vec<Sides>)| {
        inner.into_iter().map(move |rest| std::iter::once((start, end)).chain(rest).collect())
    };
    slabs.into_iter().flat_map(whole).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn boxed(sides: &[(u64, u64)]) -> NdRange {
        NdRange(sides.iter().map(|(lo, hi)| DimRange::Fixed { lo: *lo, hi: *hi }).collect())
    }

    #[test]
    fn every_cell_is_in_one_box() {
        let mut random = 1u64;
        let mut below = |end: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % end
        };
        for _ in 0..200 {
            let count = below(6);
            let side = |below: &mut dyn FnMut(u64) -> u64| {
                let low = below(8);
                (low, low + below(8 - low))
            };
            let boxes: Vec<Vec<(u64, u64)>> = (0..count).map(|_| vec![side(&mut below), side(&mut below)]).collect();
            let parts = disjoint(boxes.iter().map(|sides| boxed(sides)).collect());
            let mut cells: BTreeMap<(u64, u64), u32> = BTreeMap::new();
            for NdRange(sides) in &parts {
                let [DimRange::Fixed { lo: a, hi: b }, DimRange::Fixed { lo: c, hi: d }] = sides[..] else { panic!() };
                (a..=b).for_each(|x| (c..=d).for_each(|y| *cells.entry((x, y)).or_default() += 1));
            }
            assert!(cells.values().all(|count| *count == 1), "{boxes:?} {parts:?}");
            let is_inside =
                |x, y| boxes.iter().any(|b| (b[0].0..=b[0].1).contains(&x) && (b[1].0..=b[1].1).contains(&y));
            (0..9).for_each(|x| (0..9).for_each(|y| assert_eq!(cells.contains_key(&(x, y)), is_inside(x, y))));
        }
    }

    #[test]
    fn boxes_at_the_end_of_the_numbers() {
        let whole = boxed(&[(0, u64::MAX)]);
        assert_eq!(disjoint(vec![whole.clone(), boxed(&[(5, u64::MAX)])]), [whole]);
        let ends = [boxed(&[(0, 9)]), boxed(&[(u64::MAX, u64::MAX)])];
        assert_eq!(disjoint(ends.to_vec()), ends);
    }
}
