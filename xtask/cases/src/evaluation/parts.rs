//! Converts points and boxes to subarrays for separate reads by the library.

use tdb_types::Datatype;

use crate::case::{Case, Question};
use crate::scalars::order_of;
use crate::selection::{Interval, Selection};
use tdb_reference::model::{Bytes, RangesSpec};

/// Maximum number of subarrays for separate reads.
const MOST: usize = 40;

/// The side of a subarray along a dimension: a range, or `None` for the whole domain.
pub type Side = Option<(Bytes, Bytes)>;

/// Returns subarrays that together contain exactly the cells of a question's points and boxes. The
/// subarrays are distinct, but may overlap. Returns `None` if there are too many.
pub fn parts(case: &Case, question: &Question) -> Option<Vec<Vec<Side>>> {
    let dimensions = &case.array.dimensions;
    if question.selection.count() > 10 * MOST {
        return None;
    }
    let merged: Vec<Vec<(Bytes, Bytes)>> = dimensions
        .iter()
        .map(|dimension| {
            let all = question.query.ranges.iter().filter(|ranges| ranges.dimension == dimension.name);
            merge(dimension.datatype, all.flat_map(|ranges| ranges.ranges.iter().cloned()).collect())
        })
        .collect();
    let mut parts: Vec<Vec<Side>> = Vec::new();
    for sides in boxes(case, &question.selection) {
        let pieces =
            dimensions.iter().zip(&merged).zip(sides).map(|((dimension, merged), side)| match (&merged[..], side) {
                ([], side) => vec![side],
                (merged, None) => merged.iter().cloned().map(Some).collect(),
                (merged, Some(side)) => {
                    merged.iter().filter_map(|range| common(dimension.datatype, range, &side)).map(Some).collect()
                }
            });
        let pieces: Vec<Vec<Side>> = pieces.collect();
        if pieces.iter().map(Vec::len).product::<usize>() > MOST {
            return None;
        }
        for part in product(&pieces) {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        if parts.len() > MOST {
            return None;
        }
    }
    Some(parts)
}

/// Converts points and boxes to subarrays with closed ranges.
fn boxes(case: &Case, selection: &Selection) -> Vec<Vec<Side>> {
    let point =
        |point: &Vec<Bytes>| point.iter().map(|value| Some((value.clone(), value.clone()))).collect::<Vec<Side>>();
    let points = selection.points.iter().flatten().map(point);
    let side = |(index, intervals): (usize, &Vec<Interval>)| {
        let dimension = &case.array.dimensions[index];
        let limits = limits(case, index);
        let mut ranges = intervals.iter().filter_map(|interval| interval.as_range(dimension.datatype, &limits));
        let first = ranges.next()?;
        ranges.try_fold(first, |all, range| common(dimension.datatype, &all, &range))
    };
    let boxes = selection.boxes.iter().flatten().map(|sides| sides.iter().enumerate().map(side).collect());
    points.chain(boxes).collect()
}

/// Returns the current domain of a dimension, or its domain. For strings, returns the range of
/// generated coordinates.
pub fn limits(case: &Case, index: usize) -> (Bytes, Bytes) {
    let strings = || (Bytes::default(), Bytes(vec![b'~'; 41]));
    let current = case.array.current_domain.as_ref().map(|current| current[index].clone());
    current.or_else(|| case.array.dimensions[index].domain.clone()).unwrap_or_else(strings)
}

fn common(datatype: Datatype, a: &(Bytes, Bytes), b: &(Bytes, Bytes)) -> Option<(Bytes, Bytes)> {
    let order = |bytes: &Bytes| order_of(datatype, bytes);
    let low = if order(&a.0) < order(&b.0) { &b.0 } else { &a.0 };
    let high = if order(&a.1) < order(&b.1) { &a.1 } else { &b.1 };
    (order(low) <= order(high)).then(|| (low.clone(), high.clone()))
}

/// Merges ranges into sorted, disjoint ranges.
pub fn merge(datatype: Datatype, mut ranges: Vec<(Bytes, Bytes)>) -> Vec<(Bytes, Bytes)> {
    let order = |bytes: &Bytes| order_of(datatype, bytes);
    ranges.sort_by_cached_key(|(low, _)| order(low));
    let mut merged: Vec<(Bytes, Bytes)> = Vec::new();
    for (low, high) in ranges {
        match merged.last_mut() {
            Some((_, last)) if order(&low) <= order(last) => {
                if order(last) < order(&high) {
                    *last = high;
                }
            }
            _ => merged.push((low, high)),
        }
    }
    merged
}

fn product(pieces: &[Vec<Side>]) -> Vec<Vec<Side>> {
    pieces.iter().fold(vec![Vec::new()], |all, along| {
        let with = |start: &Vec<Side>| {
            let start = start.clone();
            along.iter().map(move |side| start.iter().chain([side]).cloned().collect())
        };
        all.iter().flat_map(with).collect()
    })
}

/// Converts a subarray to ranges of a query.
pub fn as_ranges(case: &Case, part: &[Side]) -> Vec<RangesSpec> {
    let sides = case.array.dimensions.iter().zip(part);
    let ranges = sides.filter_map(|(dimension, side)| {
        Some(RangesSpec { dimension: dimension.name.clone(), ranges: vec![side.clone()?] })
    });
    ranges.collect()
}
