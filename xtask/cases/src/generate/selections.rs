//! Random selections: points, boxes, prefixes, open-ended ranges, and many ranges.

use std::ops::Bound;

use tdb_types::{Datatype, Layout};

use super::super::case::{Case, Question};
use super::super::random::Random;
use super::super::selection::{Form, Interval};
use super::axis::Axis;
use super::questions::make_disjoint;
use crate::evaluation::{limits, merge};
use crate::scalars::{float_bytes, float_of, integer_bytes, integer_of, order_of, type_limits};
use tdb_reference::model::{ArraySpec, Bytes, RangesSpec, WriteSpec};

/// Gives most questions points and boxes, open-ended ranges, or many ranges.
pub fn ask(random: &mut Random, case: &mut Case, axes: &[Axis]) {
    let mut questions = std::mem::take(&mut case.questions);
    for question in &mut questions {
        match random.below(10) {
            0 | 1 => {}
            2 => ask_many(random, case, axes, question),
            3 | 4 => ask_forms(random, case, axes, question),
            _ => ask_sets(random, case, axes, question),
        }
    }
    case.questions = questions;
}

fn ask_sets(random: &mut Random, case: &Case, axes: &[Axis], question: &mut Question) {
    if random.percent(55) {
        question.query.ranges.clear();
    } else if random.percent(40) {
        ask_forms(random, case, axes, question);
    }
    // A condition would often leave none of the few selected cells.
    if random.percent(40) {
        question.query.condition = None;
    }
    let kind = random.between(1, 3);
    let selection = &mut question.selection;
    if kind & 1 == 1 {
        let count = [0, 1, 3, 8, 20, 200, 1000][random.weighted(&[1, 3, 5, 6, 3, 1, 1])];
        selection.points = Some(points(random, case, axes, count));
    }
    if kind & 2 == 2 {
        let count = [0, 1, 2, 5, 12, 60][random.weighted(&[1, 3, 5, 5, 2, 1])];
        selection.boxes = Some(boxes(random, case, axes, count));
    }
    if random.percent(20) {
        selection.outside = outside(random, axes);
    }
}

/// Generates points: of written cells, of coordinates from the pools, and of any coordinates. Some
/// points are repeated.
fn points(random: &mut Random, case: &Case, axes: &[Axis], count: usize) -> Vec<Vec<Bytes>> {
    let writes: Vec<&WriteSpec> = case.writes().filter(|write| !write.cells.is_empty()).collect();
    let mut points: Vec<Vec<Bytes>> = Vec::new();
    for _ in 0..count {
        let write = if writes.is_empty() { None } else { Some(*random.pick(&writes)) };
        let written = write.and_then(|write| cell(random, &case.array, write));
        points.push(match (random.below(20), written) {
            (0..=2, _) if !points.is_empty() => random.pick(&points).clone(),
            (3..=11, Some(cell)) => cell,
            _ => axes.iter().map(|axis| coordinate(random, axis)).collect(),
        });
    }
    points
}

fn coordinate(random: &mut Random, axis: &Axis) -> Bytes {
    match &axis.spec.domain {
        None if random.percent(8) => Bytes::default(),
        // Only for floats, which no current domain restricts.
        Some((low, high)) if axis.spec.datatype.is_float() && random.percent(15) => {
            random.pick(&[low, high]).to_owned().clone()
        }
        _ => axis.range_end(random),
    }
}

/// Returns the coordinates of a random cell of a sparse write.
fn cell(random: &mut Random, array: &ArraySpec, write: &WriteSpec) -> Option<Vec<Bytes>> {
    let cells = array.cells_of(write);
    let place = if cells == 0 { return None } else { random.below(cells) };
    let columns = array.dimension_names().map(|name| write.cells.iter().find(|column| column.name == name));
    columns.map(|column| Some(Bytes(column?.cell(cells, place).to_vec()))).collect()
}

/// Generates boxes that overlap, touch, or are disjoint. Some of their sides are intersections of
/// two ranges.
fn boxes(random: &mut Random, case: &Case, axes: &[Axis], count: usize) -> Vec<Vec<Vec<Interval>>> {
    let mut boxes: Vec<Vec<Vec<Interval>>> = Vec::new();
    let open = *random.pick(&[0, 25, 60]);
    for _ in 0..count {
        let mut sides: Vec<Vec<Interval>> = axes
            .iter()
            .enumerate()
            .map(|(index, axis)| if random.percent(open) { Vec::new() } else { side(random, case, index, axis) })
            .collect();
        let (index, last) = (random.below(axes.len()), boxes.last());
        if let (true, Some([Interval::Ends(_, end)])) = (random.percent(20), last.map(|last| &last[index][..])) {
            // Starts at the end of the previous box, or right after it.
            let start = match end {
                Bound::Included(end) => [Bound::Included(end.clone()), Bound::Excluded(end.clone())],
                Bound::Excluded(end) => [Bound::Included(end.clone()), Bound::Included(end.clone())],
                Bound::Unbounded => [Bound::Unbounded, Bound::Unbounded],
            };
            let touching = Interval::Ends(random.pick(&start).clone(), Bound::Unbounded);
            if is_sound(case, index, &touching) {
                sides[index] = vec![touching];
            }
        }
        boxes.push(sides);
    }
    boxes
}

fn side(random: &mut Random, case: &Case, index: usize, axis: &Axis) -> Vec<Interval> {
    let range = axis.range(random);
    if random.percent(12) {
        // The intersection of both parts is the range.
        let parts = [
            Interval::Ends(Bound::Included(range.0.clone()), Bound::Unbounded),
            Interval::Ends(Bound::Unbounded, Bound::Included(range.1)),
        ];
        return parts.to_vec();
    }
    vec![interval(random, case, index, &range, true)]
}

/// Returns a part of a range in one of tdb's forms. If `open` is `true`, the interval may be wider
/// than the range.
fn interval(random: &mut Random, case: &Case, index: usize, range: &(Bytes, Bytes), open: bool) -> Interval {
    let dimension = &case.array.dimensions[index];
    if dimension.domain.is_none() && open && random.percent(40) {
        let length = range.0.len().min(random.below(4));
        return Interval::Prefix(Bytes(range.0[..length].to_vec()));
    }
    let mut bound = |value: &Bytes| match random.below(if open { 8 } else { 6 }) {
        0..=2 => Bound::Included(value.clone()),
        3..=5 => Bound::Excluded(value.clone()),
        _ => Bound::Unbounded,
    };
    let interval = Interval::Ends(bound(&range.0), bound(&range.1));
    if is_sound(case, index, &interval) { interval } else { Interval::closed(range) }
}

/// `true` if tdb accepts the interval: it is not empty, and inside of the domain.
fn is_sound(case: &Case, index: usize, interval: &Interval) -> bool {
    let datatype = case.array.dimensions[index].datatype;
    let limits = limits(case, index);
    let order = |bytes: &Bytes| order_of(datatype, bytes);
    let is_inside = |(low, high): (Bytes, Bytes)| {
        datatype == Datatype::StringAscii || order(&low) >= order(&limits.0) && order(&high) <= order(&limits.1)
    };
    interval.as_range(datatype, &limits).is_some_and(is_inside)
}

/// Expresses some of the question's ranges in other forms for tdb. Only a single range may become
/// wider.
fn ask_forms(random: &mut Random, case: &Case, axes: &[Axis], question: &mut Question) {
    for (index, axis) in axes.iter().enumerate() {
        let name = &axis.spec.name;
        let Some(spec) = question.query.ranges.iter_mut().find(|ranges| ranges.dimension == *name) else { continue };
        let open = spec.ranges.len() == 1;
        for range in &mut spec.ranges {
            let interval = interval(random, case, index, range, open);
            if let Some(same) = interval.as_range(axis.spec.datatype, &limits(case, index)) {
                *range = same.clone();
                question.selection.forms.push(Form { dimension: name.clone(), range: same, interval });
            }
        }
    }
}

/// Generates up to a thousand ranges on one dimension, or up to thirty on each of two, in any
/// order.
fn ask_many(random: &mut Random, case: &Case, axes: &[Axis], question: &mut Question) {
    let layout = question.query.layout;
    // Avoids defects of the library, see docs/internals/conformance.md.
    let is_asked = |axis: &Axis| axis.spec.domain.is_some() || layout != Layout::Unordered;
    let mut asked: Vec<&Axis> = axes.iter().filter(|axis| is_asked(axis)).collect();
    if layout == Layout::GlobalOrder || asked.is_empty() {
        return;
    }
    random.shuffle(&mut asked);
    asked.truncate(random.weighted(&[0, 7, 3]));
    for ranges in &mut question.query.ranges {
        ranges.ranges.truncate(1);
    }
    let attributes = case.final_attributes();
    let fields = &question.query.fields;
    let variable = attributes
        .iter()
        .any(|attribute| attribute.cell_val_num.is_none() && (fields.is_empty() || fields.contains(&attribute.name)));
    for axis in &asked {
        // Limits how often each cell is returned.
        let count = match asked.len() {
            1 => (*random.pick(&[10, 100, 1000])).min(4 * axis.pool.len()),
            _ => (*random.pick(&[3, 10, 30])).min(2 * axis.pool.len()),
        };
        let mut ranges = RangesSpec { dimension: axis.spec.name.clone(), ranges: narrow_ranges(random, axis, count) };
        if case.is_dense() && variable || random.percent(40) {
            make_disjoint(axis, &mut ranges);
        } else if random.percent(20) {
            ranges.ranges = merge(axis.spec.datatype, ranges.ranges);
        }
        question.query.ranges.retain(|others| others.dimension != ranges.dimension);
        question.query.ranges.push(ranges);
    }
}

/// Generates ranges of a few coordinates each. Some are adjacent to the previous range, and some
/// are repeated.
fn narrow_ranges(random: &mut Random, axis: &Axis, count: usize) -> Vec<(Bytes, Bytes)> {
    let physical = axis.spec.datatype.physical();
    let is_integer = axis.spec.domain.is_some() && !physical.is_float();
    let mut ranges: Vec<(Bytes, Bytes)> = Vec::new();
    for _ in 0..count {
        let last = ranges.last().filter(|_| is_integer).map(|(_, high)| integer_of(physical, high) + 1);
        let next = last.filter(|next| *next <= axis.high);
        ranges.push(match (random.below(20), next) {
            (0..=3, Some(low)) => {
                let high = (low + random.below(3) as i128).min(axis.high);
                (integer_bytes(physical, low), integer_bytes(physical, high))
            }
            (4 | 5, _) if !ranges.is_empty() => random.pick(&ranges).clone(),
            _ => narrow(random, axis),
        });
    }
    ranges
}

/// Generates a range of a few coordinates.
fn narrow(random: &mut Random, axis: &Axis) -> (Bytes, Bytes) {
    let is_integer = axis.spec.domain.is_some() && !axis.spec.datatype.is_float();
    if is_integer && random.percent(50) {
        let low = random.integer(axis.low, axis.high);
        let high = (low + random.below(3) as i128).min(axis.high);
        let physical = axis.spec.datatype.physical();
        return (integer_bytes(physical, low), integer_bytes(physical, high));
    }
    if axis.pool.is_empty() {
        let one = axis.range_end(random);
        return (one.clone(), one);
    }
    let first = random.below(axis.pool.len());
    let last = (first + random.below(3)).min(axis.pool.len() - 1);
    (axis.pool[first].clone(), axis.pool[last].clone())
}

/// Returns a point with one coordinate outside of the (current) domain. Returns `None` if the
/// domain covers the datatype.
fn outside(random: &mut Random, axes: &[Axis]) -> Option<Vec<Bytes>> {
    let mut beyond = Vec::new();
    for (index, axis) in axes.iter().enumerate() {
        let datatype = axis.spec.datatype;
        let Some((low, high)) = &axis.spec.domain else { continue };
        if datatype.is_float() {
            let (low, high) = (float_of(datatype, low), float_of(datatype, high));
            let margin = (high - low) / 16.0;
            let values = [low - margin, high + margin, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
            beyond.extend(values.map(|value| (index, float_bytes(datatype, value))));
            continue;
        }
        let (least, greatest) = type_limits(datatype.physical());
        let values = [least, axis.low - 1, axis.high + 1, greatest].into_iter();
        let values =
            values.filter(|value| (least..=greatest).contains(value) && !(axis.low..=axis.high).contains(value));
        beyond.extend(values.map(|value| (index, integer_bytes(datatype.physical(), value))));
    }
    let (index, value) = if beyond.is_empty() { return None } else { random.pick(&beyond).clone() };
    let mut point: Vec<Bytes> = axes.iter().map(|axis| coordinate(random, axis)).collect();
    point[index] = value;
    Some(point)
}
