//! Random reads.

use tdb_types::{ArrayType, Layout};

use super::super::case::Question;
use super::super::random::Random;
use super::super::selection::Selection;
use super::axis::Axis;
use crate::scalars::order_of;
use tdb_reference::model::{ArraySpec, AttributeSpec, Bytes, QuerySpec, RangesSpec};

/// Generates a read of an array with the given attributes and timestamps of changes.
pub fn question(
    random: &mut Random,
    array: &ArraySpec,
    axes: &[Axis],
    attributes: &[AttributeSpec],
    times: &[u64],
) -> Question {
    let layouts: &[Layout] = match array.array_type {
        ArrayType::Dense => &[Layout::RowMajor, Layout::ColMajor, Layout::GlobalOrder],
        ArrayType::Sparse => &[Layout::RowMajor, Layout::ColMajor, Layout::GlobalOrder, Layout::Unordered],
    };
    let layout = *random.pick(layouts);
    let mut ranges = Vec::new();
    if random.percent(70) {
        for axis in axes {
            ranges.extend(axis_ranges(random, axis, layout));
        }
    }
    let timestamps =
        (random.percent(15) && !times.is_empty() && attributes.starts_with(&array.attributes)).then(|| {
            let (a, b) = (*random.pick(times), *random.pick(times));
            if random.percent(50) { (0, a + random.below(2) as u64) } else { (a.min(b), a.max(b)) }
        });
    // Time travel may select an older schema with other attributes.
    let fields = if timestamps.is_some() && attributes != array.attributes {
        Vec::new()
    } else {
        fields(random, array, attributes)
    };
    for (ranges, axis) in ranges.iter_mut().filter_map(|ranges: &mut RangesSpec| {
        let axis = axes.iter().find(|axis| axis.spec.name == ranges.dimension)?;
        Some((ranges, axis))
    }) {
        // Avoids a defect of the library, see docs/internals/conformance.md.
        let strings = axis.spec.domain.is_none() && layout == Layout::Unordered;
        if strings {
            ranges.ranges.truncate(1);
        }
        if random.percent(30) {
            make_disjoint(axis, ranges);
        }
    }
    let query = QuerySpec { fields, ranges, layout, timestamps, condition: None };
    let budget = if random.percent(50) { None } else { Some(random.small(1, 200_000)) };
    let (tiny_budget, threads) = (*random.pick(&[1, 16, 100, 777]), random.between(1, 2));
    Question { query, selection: Selection::default(), aggregates: Vec::new(), budget, tiny_budget, threads }
}

fn fields(random: &mut Random, array: &ArraySpec, attributes: &[AttributeSpec]) -> Vec<String> {
    if random.percent(30) {
        return Vec::new();
    }
    let names = attributes.iter().map(|attribute| attribute.name.as_str());
    let all: Vec<String> = names.chain(array.dimension_names()).map(str::to_owned).collect();
    let percent = *random.pick(&[20, 50, 90]);
    let mut fields = random.subset(&all, percent);
    random.shuffle(&mut fields);
    fields
}

fn axis_ranges(random: &mut Random, axis: &Axis, layout: Layout) -> Option<RangesSpec> {
    let count = if layout == Layout::GlobalOrder { random.below(2) } else { random.below(4) };
    if count == 0 {
        return None;
    }
    let mut ranges: Vec<_> = (0..count).map(|_| axis.range(random)).collect();
    if random.percent(20) {
        // Repeats a range.
        ranges.push(random.pick(&ranges).clone());
    }
    Some(RangesSpec { dimension: axis.spec.name.clone(), ranges })
}

/// Sorts ranges, and removes overlapping ranges.
pub fn make_disjoint(axis: &Axis, ranges: &mut RangesSpec) {
    let order = |bytes: &Bytes| order_of(axis.spec.datatype, bytes);
    ranges.ranges.sort_by_cached_key(|(low, _)| order(low));
    let mut end: Option<Bytes> = None;
    ranges.ranges.retain(|(low, high)| {
        let disjoint = end.as_ref().is_none_or(|end| order(end) < order(low));
        if disjoint {
            end = Some(high.clone());
        }
        disjoint
    });
}
