//! Simplifies failing cases for human readers.

use std::ops::Range;

use tdb_types::{Datatype, Layout};

use super::case::{Case, Question, Step};
use crate::scalars::{integer_bytes, integer_of};
use crate::selection::Selection;
use tdb_reference::model::{ArraySpec, Bytes, Column, DimensionSpec, Pipeline, WriteSpec};

/// The simplifications of a case.
struct Smaller<'a> {
    case: &'a Case,
    cases: Vec<Case>,
}

impl Smaller<'_> {
    /// Adds the case after a change, unless the change has no effect.
    fn add(&mut self, change: impl FnOnce(&mut Case)) {
        self.try_add(|case| {
            change(case);
            Some(())
        });
    }

    /// Adds the case after a change, unless the change is impossible or has no effect.
    fn try_add(&mut self, change: impl FnOnce(&mut Case) -> Option<()>) {
        let mut smaller = self.case.clone();
        if change(&mut smaller).is_some() && smaller != *self.case {
            self.cases.push(smaller);
        }
    }
}

/// Returns cases with one simplification each, largest simplifications first.
pub fn smaller_cases(case: &Case) -> Vec<Case> {
    let mut smaller = Smaller { case, cases: Vec::new() };
    smaller.add(|case| case.questions.clear());
    for question in &case.questions {
        smaller.add(|case| case.questions = vec![question.clone()]);
    }
    for index in (0..case.steps.len()).rev() {
        smaller.add(|case| without_step(case, index));
    }
    for attribute in case.final_attributes() {
        smaller.add(|case| without_attribute(case, &attribute.name));
    }
    for index in 0..case.array.dimensions.len() {
        smaller.try_add(|case| without_dimension(case, index));
    }
    for index in 0..case.questions.len() {
        simpler_questions(index, &mut smaller);
    }
    simpler_schemas(&mut smaller);
    for index in 0..case.steps.len() {
        fewer_cells(index, &mut smaller);
    }
    smaller.cases
}

fn without_step(case: &mut Case, index: usize) {
    // Writes depend on the evolutions before them.
    if matches!(case.steps[index], Step::Evolve(_))
        && case.steps[index + 1..].iter().any(|step| matches!(step, Step::Write(_)))
    {
        return;
    }
    case.steps.remove(index);
}

fn without_attribute(case: &mut Case, name: &str) {
    if is_in_a_condition(case, name) {
        return;
    }
    case.array.attributes.retain(|attribute| attribute.name != name);
    for step in &mut case.steps {
        match step {
            Step::Write(write) => write.cells.retain(|column| column.name != name),
            Step::Evolve(evolution) => {
                evolution.add_attributes.retain(|attribute| attribute.name != name);
                evolution.drop_attributes.retain(|dropped| dropped != name);
            }
            _ => {}
        }
    }
    case.steps.retain(|step| !matches!(step, Step::Evolve(evolution) if *evolution == Default::default()));
    case.questions.iter_mut().for_each(|question| without_field(question, name));
}

/// `true` if a delete or a question has a condition on the field.
fn is_in_a_condition(case: &Case, name: &str) -> bool {
    let mut questions = case.questions.iter().filter_map(|question| question.query.condition.as_ref());
    questions.any(|condition| condition.has_field(name))
        || case.steps.iter().any(|step| matches!(step, Step::Delete(condition, _) if condition.has_field(name)))
}

fn without_field(question: &mut Question, name: &str) {
    question.query.fields.retain(|field| field != name);
    question.aggregates.retain(|aggregate| aggregate.field.as_deref() != Some(name));
}

fn without_dimension(case: &mut Case, index: usize) -> Option<()> {
    if case.array.dimensions.len() == 1 || is_in_a_condition(case, &case.array.dimensions[index].name) {
        return None;
    }
    let (sparse, dimensions) = (!case.is_dense(), case.array.dimensions.clone());
    for write in case.writes_mut() {
        if sparse {
            write.cells.remove(index);
        } else {
            let (low, _) = integers(&dimensions[index], &write.subarray.as_ref()?[index]);
            keep_coordinates(&dimensions, write, index, (low, low))?;
            write.subarray.as_mut()?.remove(index);
        }
    }
    let removed = case.array.dimensions.remove(index);
    if let Some(current) = &mut case.array.current_domain {
        current.remove(index);
    }
    for question in &mut case.questions {
        without_field(question, &removed.name);
        question.query.ranges.retain(|ranges| ranges.dimension != removed.name);
        let selection = &mut question.selection;
        selection.forms.retain(|form| form.dimension != removed.name);
        selection.outside = None;
        selection.points.iter_mut().flatten().for_each(|point| drop(point.remove(index)));
        selection.boxes.iter_mut().flatten().for_each(|sides| drop(sides.remove(index)));
    }
    Some(())
}

fn integers(dimension: &DimensionSpec, (low, high): &(Bytes, Bytes)) -> (i128, i128) {
    let physical = dimension.datatype.physical();
    (integer_of(physical, low), integer_of(physical, high))
}

/// Restricts a dense write to a range of coordinates along a dimension.
fn keep_coordinates(
    dimensions: &[DimensionSpec],
    write: &mut WriteSpec,
    index: usize,
    (low, high): (i128, i128),
) -> Option<()> {
    if write.layout == Layout::GlobalOrder {
        return None;
    }
    let ranges = dimensions.iter().zip(write.subarray.as_ref()?).map(|(dimension, ends)| integers(dimension, ends));
    let ranges: Vec<(i128, i128)> = ranges.collect();
    let inner = |range: &[(i128, i128)]| range.iter().map(|(low, high)| high - low + 1).product::<i128>();
    let step = match write.layout {
        Layout::RowMajor => inner(&ranges[index + 1..]),
        _ => inner(&ranges[..index]),
    };
    let length = ranges[index].1 - ranges[index].0 + 1;
    let cells = usize::try_from(inner(&ranges)).ok()?;
    let keep = |cell: usize| (low..=high).contains(&(ranges[index].0 + cell as i128 / step % length));
    write.cells.iter_mut().for_each(|column| retain(column, cells, &keep));
    let physical = dimensions[index].datatype.physical();
    write.subarray.as_mut()?[index] = (integer_bytes(physical, low), integer_bytes(physical, high));
    Some(())
}

/// Retains some cells of a column.
fn retain(column: &mut Column, cells: usize, keep: &dyn Fn(usize) -> bool) {
    *column = column.of_places(cells, (0..cells).filter(|&cell| keep(cell)));
}

fn simpler_questions(index: usize, smaller: &mut Smaller<'_>) {
    let Question { query, selection, aggregates, .. } = &smaller.case.questions[index];
    let mut ask = |change: &dyn Fn(&mut Question)| smaller.add(|case| change(&mut case.questions[index]));
    ask(&|question| question.threads = 1);
    ask(&|question| question.budget = None);
    ask(&|question| question.query.timestamps = None);
    for (dimension, ranges) in query.ranges.iter().enumerate() {
        ask(&|question| drop(question.query.ranges.remove(dimension)));
        let ranges = &ranges.ranges;
        let (first, second) = ranges.split_at(ranges.len() / 2);
        for half in [first, second].into_iter().filter(|_| ranges.len() > 3) {
            ask(&|question| question.query.ranges[dimension].ranges = half.to_vec());
        }
        for range in (0..ranges.len()).take(40).filter(|_| ranges.len() > 1) {
            ask(&|question| drop(question.query.ranges[dimension].ranges.remove(range)));
        }
    }
    simpler_selections(selection, &mut ask);
    for aggregate in 0..aggregates.len() {
        ask(&|question| drop(question.aggregates.remove(aggregate)));
    }
    ask(&|question| question.query.condition = None);
    ask(&|question| question.query.fields.clear());
    for field in (0..query.fields.len()).filter(|_| query.fields.len() > 1) {
        ask(&|question| drop(question.query.fields.remove(field)));
    }
    ask(&|question| question.query.layout = Layout::RowMajor);
}

/// A function that tries a change of a question.
type Ask<'a> = dyn FnMut(&dyn Fn(&mut Question)) + 'a;

fn simpler_selections(selection: &Selection, ask: &mut Ask<'_>) {
    ask(&|question| question.selection.forms.clear());
    ask(&|question| question.selection.outside = None);
    ask(&|question| question.selection.points = None);
    ask(&|question| question.selection.boxes = None);
    for part in parts(selection.points.as_ref().map_or(0, Vec::len), 20) {
        ask(&|question| question.selection.points.iter_mut().for_each(|points| drop(points.drain(part.clone()))));
    }
    for part in parts(selection.boxes.as_ref().map_or(0, Vec::len), 20) {
        ask(&|question| question.selection.boxes.iter_mut().for_each(|boxes| drop(boxes.drain(part.clone()))));
    }
    for (place, sides) in selection.boxes.iter().flatten().enumerate().take(4) {
        for side in 0..sides.len() {
            ask(&|question| {
                question.selection.boxes.iter_mut().for_each(|boxes| drop(boxes[place][side].pop()));
            });
        }
    }
}

/// Divides items into halves, quarters and so on, down to single items. Returns up to `most` parts
/// of each size.
fn parts(count: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let sizes = std::iter::successors(Some(count.div_ceil(2)), |size| (*size > 1).then(|| size / 2));
    let of_size = move |size| (0..count).step_by(size).take(most).map(move |start| start..(start + size).min(count));
    sizes.filter(|size| *size > 0).flat_map(of_size)
}

fn simpler_schemas(smaller: &mut Smaller<'_>) {
    let without_cell_filters = |array: &mut ArraySpec| {
        (array.coords_filters, array.offsets_filters, array.validity_filters) = (None, None, None);
    };
    smaller.add(|case| {
        without_cell_filters(&mut case.array);
        case.array.dimensions.iter_mut().for_each(|dimension| dimension.filters = Pipeline::default());
        case.array.attributes.iter_mut().for_each(|attribute| attribute.filters = Pipeline::default());
    });
    smaller.add(|case| without_cell_filters(&mut case.array));
    smaller.add(|case| case.encrypted = false);
    smaller.add(|case| case.array.current_domain = None);
    smaller.add(|case| {
        case.array.enumerations.clear();
        case.array.attributes.iter_mut().for_each(|attribute| attribute.enumeration = None);
    });
    smaller.add(|case| case.array.tile_order = Layout::RowMajor);
    smaller.add(|case| case.array.cell_order = Layout::RowMajor);
    smaller.add(|case| case.array.allows_dups = false);
    for (index, dimension) in smaller.case.array.dimensions.iter().enumerate() {
        smaller.add(|case| case.array.dimensions[index].filters = Pipeline::default());
        let domain = dimension.domain.as_ref().filter(|_| !dimension.datatype.is_float() && dimension.extent.is_some());
        if let Some((low, high)) = domain.map(|domain| integers(dimension, domain)) {
            let extent = integer_bytes(dimension.datatype.physical(), high - low + 1);
            smaller.add(|case| case.array.dimensions[index].extent = Some(extent));
        }
    }
    (0..smaller.case.array.attributes.len()).for_each(|index| simpler_attribute(index, smaller));
}

fn simpler_attribute(index: usize, smaller: &mut Smaller<'_>) {
    let attribute = &smaller.case.array.attributes[index];
    smaller.add(|case| case.array.attributes[index].filters = Pipeline::default());
    for filter in 0..attribute.filters.filters.len() {
        smaller.add(|case| {
            case.array.attributes[index].filters.filters.remove(filter);
        });
    }
    smaller.add(|case| case.array.attributes[index].datatype = plain_type(attribute.datatype));
    smaller.add(|case| case.array.attributes[index].fill = None);
    smaller.add(|case| {
        case.array.attributes[index].nullable = false;
        let columns = case.writes_mut().flat_map(|write| &mut write.cells);
        columns.filter(|column| column.name == attribute.name).for_each(|column| column.validity = None);
    });
}

/// Returns the unsigned integer type of the same size.
fn plain_type(datatype: Datatype) -> Datatype {
    match datatype.size() {
        1 => Datatype::UInt8,
        2 => Datatype::UInt16,
        4 => Datatype::UInt32,
        _ => Datatype::UInt64,
    }
}

fn fewer_cells(index: usize, smaller: &mut Smaller<'_>) {
    let case = smaller.case;
    let Step::Write(write) = &case.steps[index] else { return };
    if write.subarray.is_some() {
        for dimension in 0..case.array.dimensions.len() {
            for part in 0..4 {
                smaller.try_add(|case| narrower(case, index, dimension, part));
            }
        }
        return;
    }
    let cells = case.array.cells_of(write);
    for part in parts(cells, 40).filter(|part| part.len() < cells) {
        smaller.try_add(|case| {
            let Step::Write(write) = &mut case.steps[index] else { return None };
            write.cells.iter_mut().for_each(|column| retain(column, cells, &|cell| !part.contains(&cell)));
            Some(())
        });
    }
}

/// Halves a dense write along a dimension, or removes one coordinate.
fn narrower(case: &mut Case, index: usize, dimension: usize, part: usize) -> Option<()> {
    let dimensions = case.array.dimensions.clone();
    let Step::Write(write) = &mut case.steps[index] else { return None };
    let (low, high) = integers(&dimensions[dimension], &write.subarray.as_ref()?[dimension]);
    if low == high {
        return None;
    }
    let middle = low + (high - low) / 2;
    let kept = match part {
        0 => (low, middle),
        1 => (middle + 1, high),
        2 => (low + 1, high),
        _ => (low, high - 1),
    };
    keep_coordinates(&dimensions, write, dimension, kept)
}
