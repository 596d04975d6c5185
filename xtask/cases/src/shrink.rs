//! Shrinks a failing case for human readers.

use tdb_types::{ArrayType, Datatype, Layout};

use super::case::{Case, Question, Step};
use super::verdict::Failure;
use crate::scalars::{integer_bytes, integer_of};
use tdb_reference::model::{Bytes, Column, Pipeline, WriteSpec};

/// Maximum number of smaller cases to try.
const ATTEMPTS: usize = 1500;

/// Returns the smallest case found that fails in the same way. `fails` runs a case and returns its
/// failure.
pub fn shrink(case: Case, failure: Failure, mut fails: impl FnMut(&Case) -> Option<Failure>) -> (Case, Failure) {
    let (mut best, mut how) = (case, failure);
    if let Some(index) = how.question {
        let mut only = best.clone();
        only.questions = vec![best.questions[index].clone()];
        if let Some(failure) = fails(&only).filter(|failure| failure.resembles(&how)) {
            (best, how) = (only, failure);
        }
    } else {
        best.questions.clear();
    }
    let mut attempts = 0;
    'again: loop {
        for smaller in smaller_cases(&best) {
            attempts += 1;
            if attempts > ATTEMPTS {
                return (best, how);
            }
            if let Some(failure) = fails(&smaller).filter(|failure| failure.resembles(&how)) {
                (best, how) = (smaller, failure);
                continue 'again;
            }
        }
        return (best, how);
    }
}

/// Returns cases with one simplification each, largest simplifications first.
pub fn smaller_cases(case: &Case) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |change: &dyn Fn(&mut Case) -> Option<()>| {
        let mut smaller = case.clone();
        if change(&mut smaller).is_some() && !is_same(&smaller, case) {
            cases.push(smaller);
        }
    };
    for index in (0..case.steps.len()).rev() {
        add(&|case| without_step(case, index));
    }
    for attribute in case.final_attributes() {
        add(&|case| without_attribute(case, &attribute.name));
    }
    for index in 0..case.array.dimensions.len() {
        add(&|case| without_dimension(case, index));
    }
    for index in 0..case.questions.len() {
        simpler_questions(index, case, &mut add);
    }
    simpler_schemas(case, &mut add);
    for index in 0..case.steps.len() {
        fewer_cells(index, case, &mut add);
    }
    cases
}

fn is_same(a: &Case, b: &Case) -> bool {
    a.array == b.array && a.steps == b.steps && a.questions == b.questions
}

type Add<'a> = &'a mut dyn FnMut(&dyn Fn(&mut Case) -> Option<()>);

fn without_step(case: &mut Case, index: usize) -> Option<()> {
    // Writes depend on the evolutions before them.
    if matches!(case.steps[index], Step::Evolve(_))
        && case.steps[index + 1..].iter().any(|step| matches!(step, Step::Write(_)))
    {
        return None;
    }
    case.steps.remove(index);
    Some(())
}

fn without_attribute(case: &mut Case, name: &str) -> Option<()> {
    if is_in_a_condition(case, name) {
        return None;
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
    Some(())
}

/// `true` if a delete or a question has a condition on the field.
fn is_in_a_condition(case: &Case, name: &str) -> bool {
    let mut questions = case.questions.iter().filter_map(|question| question.query.condition.as_ref());
    if questions.any(|condition| condition.has_field(name)) {
        return true;
    }
    case.steps.iter().any(|step| matches!(step, Step::Delete(condition, _) if condition.has_field(name)))
}

fn without_field(question: &mut Question, name: &str) {
    question.query.fields.retain(|field| field != name);
    question.aggregates.retain(|aggregate| aggregate.field.as_deref() != Some(name));
}

fn without_dimension(case: &mut Case, index: usize) -> Option<()> {
    if case.array.dimensions.len() == 1 || is_in_a_condition(case, &case.array.dimensions[index].name) {
        return None;
    }
    let sparse = case.array.array_type == ArrayType::Sparse;
    for step in &mut case.steps {
        let Step::Write(write) = step else { continue };
        if sparse {
            write.cells.remove(index);
        } else {
            let (low, _) = write.subarray.as_ref()?[index].clone();
            keep_coordinates(&case.array.dimensions, write, index, &low, &low)?;
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

/// Restricts a dense write to a range of coordinates along a dimension.
fn keep_coordinates(
    dimensions: &[tdb_reference::model::DimensionSpec],
    write: &mut WriteSpec,
    index: usize,
    low: &Bytes,
    high: &Bytes,
) -> Option<()> {
    if write.layout == Layout::GlobalOrder {
        return None;
    }
    let integer = |dimension: usize, bytes: &Bytes| integer_of(dimensions[dimension].datatype.physical(), bytes);
    let ranges: Vec<(i128, i128)> = write
        .subarray
        .as_ref()?
        .iter()
        .enumerate()
        .map(|(dimension, (low, high))| (integer(dimension, low), integer(dimension, high)))
        .collect();
    let kept = integer(index, low)..=integer(index, high);
    let inner = |range: &[(i128, i128)]| range.iter().map(|(low, high)| high - low + 1).product::<i128>();
    let step = match write.layout {
        Layout::RowMajor => inner(&ranges[index + 1..]),
        _ => inner(&ranges[..index]),
    };
    let length = ranges[index].1 - ranges[index].0 + 1;
    let cells = usize::try_from(inner(&ranges)).ok()?;
    let keep = |cell: usize| kept.contains(&(ranges[index].0 + cell as i128 / step % length));
    write.cells.iter_mut().for_each(|column| retain(column, cells, &keep));
    write.subarray.as_mut()?[index] = (low.clone(), high.clone());
    Some(())
}

/// Retains some cells of a column.
fn retain(column: &mut Column, cells: usize, keep: &dyn Fn(usize) -> bool) {
    *column = column.of_places(cells, (0..cells).filter(|&cell| keep(cell)));
}

fn simpler_questions(index: usize, case: &Case, add: Add<'_>) {
    let query = &case.questions[index].query;
    add(&|case| {
        case.questions[index].threads = 1;
        Some(())
    });
    add(&|case| {
        case.questions[index].budget = None;
        Some(())
    });
    add(&|case| {
        case.questions[index].query.timestamps = None;
        Some(())
    });
    for dimension in 0..query.ranges.len() {
        add(&|case| {
            case.questions[index].query.ranges.remove(dimension);
            Some(())
        });
        for half in 0..2 {
            add(&|case| {
                let ranges = &mut case.questions[index].query.ranges[dimension].ranges;
                let (all, middle) = (ranges.len(), ranges.len() / 2);
                let kept = if half == 0 { 0..middle } else { middle..all };
                *ranges = ranges.get(kept).filter(|kept| all > 3 && !kept.is_empty())?.to_vec();
                Some(())
            });
        }
        for range in 0..query.ranges[dimension].ranges.len().min(40) {
            add(&|case| {
                let ranges = &mut case.questions[index].query.ranges[dimension].ranges;
                (ranges.len() > 1).then(|| drop(ranges.remove(range)))
            });
        }
    }
    simpler_selections(index, case, add);
    for aggregate in 0..case.questions[index].aggregates.len() {
        add(&|case| {
            case.questions[index].aggregates.remove(aggregate);
            Some(())
        });
    }
    add(&|case| case.questions[index].query.condition.take().map(drop));
    add(&|case| {
        case.questions[index].query.fields.clear();
        Some(())
    });
    if query.fields.len() > 1 {
        for field in 0..query.fields.len() {
            add(&|case| {
                case.questions[index].query.fields.remove(field);
                Some(())
            });
        }
    }
    add(&|case| {
        case.questions[index].query.layout = Layout::RowMajor;
        Some(())
    });
}

fn simpler_selections(index: usize, case: &Case, add: Add<'_>) {
    let selection = &case.questions[index].selection;
    add(&|case| {
        case.questions[index].selection.forms.clear();
        Some(())
    });
    add(&|case| case.questions[index].selection.outside.take().map(drop));
    add(&|case| case.questions[index].selection.points.take().map(drop));
    add(&|case| case.questions[index].selection.boxes.take().map(drop));
    let parts = |count: usize| {
        let halves = std::iter::successors(Some(count.div_ceil(2)), |part| (*part > 1).then(|| part / 2));
        let of_part = move |part: usize| (0..count).step_by(part.max(1)).take(20).map(move |start| (start, part));
        halves.filter(|part| *part > 0).flat_map(of_part).collect::<Vec<(usize, usize)>>()
    };
    for (start, part) in parts(selection.points.as_ref().map_or(0, Vec::len)) {
        add(&|case| {
            let points = case.questions[index].selection.points.as_mut()?;
            points.drain(start..(start + part).min(points.len()));
            Some(())
        });
    }
    for (start, part) in parts(selection.boxes.as_ref().map_or(0, Vec::len)) {
        add(&|case| {
            let boxes = case.questions[index].selection.boxes.as_mut()?;
            boxes.drain(start..(start + part).min(boxes.len()));
            Some(())
        });
    }
    let sides = selection.boxes.iter().flatten().enumerate().take(4);
    for (place, side) in sides.flat_map(|(place, sides)| (0..sides.len()).map(move |side| (place, side))) {
        add(&|case| case.questions[index].selection.boxes.as_mut()?[place][side].pop().map(drop));
    }
}

fn simpler_schemas(case: &Case, add: Add<'_>) {
    add(&|case| {
        let array = &mut case.array;
        (array.coords_filters, array.offsets_filters, array.validity_filters) = (None, None, None);
        array.dimensions.iter_mut().for_each(|dimension| dimension.filters = Pipeline::default());
        array.attributes.iter_mut().for_each(|attribute| attribute.filters = Pipeline::default());
        Some(())
    });
    add(&|case| {
        (case.array.coords_filters, case.array.offsets_filters, case.array.validity_filters) = (None, None, None);
        Some(())
    });
    add(&|case| {
        case.encrypted = false;
        Some(())
    });
    add(&|case| {
        case.array.current_domain = None;
        Some(())
    });
    add(&|case| {
        case.array.enumerations.clear();
        case.array.attributes.iter_mut().for_each(|attribute| attribute.enumeration = None);
        Some(())
    });
    add(&|case| {
        case.array.tile_order = Layout::RowMajor;
        Some(())
    });
    add(&|case| {
        case.array.cell_order = Layout::RowMajor;
        Some(())
    });
    add(&|case| {
        case.array.allows_dups = false;
        Some(())
    });
    for index in 0..case.array.dimensions.len() {
        add(&|case| {
            case.array.dimensions[index].filters = Pipeline::default();
            Some(())
        });
        add(&|case| {
            let dimension = &mut case.array.dimensions[index];
            let physical = dimension.datatype.physical();
            let (low, high) = dimension.domain.as_ref().filter(|_| !dimension.datatype.is_float())?;
            let size = integer_of(physical, high) - integer_of(physical, low) + 1;
            dimension.extent.as_ref()?;
            dimension.extent = Some(integer_bytes(physical, size));
            Some(())
        });
    }
    (0..case.array.attributes.len()).for_each(|index| simpler_attribute(index, case, add));
}

fn simpler_attribute(index: usize, case: &Case, add: Add<'_>) {
    add(&|case| {
        case.array.attributes[index].filters = Pipeline::default();
        Some(())
    });
    for filter in 0..case.array.attributes[index].filters.filters.len() {
        add(&|case| {
            case.array.attributes[index].filters.filters.remove(filter);
            Some(())
        });
    }
    add(&|case| {
        let attribute = &mut case.array.attributes[index];
        attribute.datatype = plain_type(attribute.datatype);
        Some(())
    });
    add(&|case| {
        case.array.attributes[index].fill = None;
        Some(())
    });
    add(&|case| {
        let name = case.array.attributes[index].name.clone();
        case.array.attributes[index].nullable = false;
        let columns = case.steps.iter_mut().filter_map(|step| match step {
            Step::Write(write) => write.cells.iter_mut().find(|column| column.name == name),
            _ => None,
        });
        columns.for_each(|column| column.validity = None);
        Some(())
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

fn fewer_cells(index: usize, case: &Case, add: Add<'_>) {
    let Step::Write(write) = &case.steps[index] else { return };
    if write.subarray.is_some() {
        for dimension in 0..case.array.dimensions.len() {
            for part in 0..4 {
                add(&|case| narrower(case, index, dimension, part));
            }
        }
        return;
    }
    let Some(first) = write.cells.first() else { return };
    let cells = match &first.offsets {
        Some(offsets) => offsets.len() - 1,
        None => first.values.len() / case.array.dimensions[0].datatype.size(),
    };
    let mut part = cells.div_ceil(2);
    while part > 0 {
        for start in (0..cells).step_by(part).take(40) {
            add(&|case| {
                let Step::Write(write) = &mut case.steps[index] else { return None };
                let keep = |cell: usize| cell < start || cell >= start + part;
                if part >= cells {
                    return None;
                }
                write.cells.iter_mut().for_each(|column| retain(column, cells, &keep));
                Some(())
            });
        }
        part /= 2;
    }
}

/// Halves a dense write along a dimension, or removes one coordinate.
fn narrower(case: &mut Case, index: usize, dimension: usize, part: usize) -> Option<()> {
    let dimensions = case.array.dimensions.clone();
    let physical = dimensions[dimension].datatype.physical();
    let Step::Write(write) = &mut case.steps[index] else { return None };
    let (low, high) = &write.subarray.as_ref()?[dimension];
    let (low, high) = (integer_of(physical, low), integer_of(physical, high));
    if low == high {
        return None;
    }
    let middle = low + (high - low) / 2;
    let (low, high) = match part {
        0 => (low, middle),
        1 => (middle + 1, high),
        2 => (low + 1, high),
        _ => (low, high - 1),
    };
    keep_coordinates(&dimensions, write, dimension, &integer_bytes(physical, low), &integer_bytes(physical, high))
}
