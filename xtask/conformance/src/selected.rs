//! Compares reads of points, boxes and open-ended ranges on both sides.
//!
//! A plain evaluator also selects the cells of the question from all cells of tdb's array, and
//! tdb's result must be the same.

use std::collections::HashMap;

use tdb_array::Array;
use tdb_cases::case::{Case, Question};
use tdb_cases::compare::{Settled, difference};
use tdb_cases::evaluation::{Place, as_ranges, choose, parts, places, take, typed};
use tdb_cases::overhang::{self, WideArray};
use tdb_cases::reads::{compare_in_order, read_again, settled, with_coordinates};
use tdb_cases::selection::Selection;
use tdb_cases::their_errors::their_end;
use tdb_cases::verdict::{End, Failure, Kind, caught, excuse, no_difference};
use tdb_cases::{defects, ours};
use tdb_reference::Reference;
use tdb_reference::model::{QuerySpec, RangesSpec, ReadResult};
use tdb_types::Layout;

use super::aggregates;

/// The excuse for questions with a condition about a wide array.
pub const NOT_OF_WIDE: &str = "has no answer to a condition if the wide array replaces the array";

/// Compares the results of both sides for a question with points or boxes. Returns the number of
/// compared cells, or the verdict that ends the case. The library reads the first array or the wide
/// one, and tdb the second.
///
/// # Errors
/// Fails if the library's process cannot be started.
pub fn compare_sets(
    case: &Case,
    index: usize,
    reference: &mut Reference,
    [their_uri, uri]: [&str; 2],
    wide: Option<&WideArray>,
    excuses: &mut Vec<String>,
) -> Result<usize, End> {
    let question = &case.questions[index];
    check_ours(case, question, uri)?;
    let array = ours::open(uri, case, question).map_err(Failure::ours)?;
    let fields = all_fields(case, question, &array);
    let (theirs, judged) = match wide {
        None => their_cells(case, index, &fields, (reference, their_uri), excuses)?,
        Some(wide) => {
            excuse(question.query.condition.is_some().then_some(NOT_OF_WIDE))?;
            let whole = judged(&wide.case, &wide.case.questions[index], &fields, Vec::new());
            let cells = read(&wide.case, index, &whole, (reference, &wide.uri))?;
            let cells = overhang::narrowed(case, cells);
            (sorted(case, question, &choose(case, question, &cells)), None)
        }
    };
    // A result in global order is only compared with all cells of tdb's array.
    let order = match question.query.layout {
        Layout::RowMajor | Layout::ColMajor => settled(case, question, &theirs),
        _ => Settled::Nothing,
    };
    let reading = ours::answer(&array, question, question.budget).map_err(Failure::ours)?;
    no_difference(Kind::Cells, difference(&theirs, &reading, &order))?;
    if !question.aggregates.is_empty() {
        let query = judged.as_ref().map(|judged| with_coordinates(case, judged));
        let judged = judged.as_ref().zip(query.as_ref()).map(|(judged, query)| (judged, query, theirs.cells));
        aggregates::compare(case, question, reference, [their_uri, uri], judged, excuses)?;
    }
    Ok(theirs.cells)
}

/// Compares tdb's result for a selection with a plain evaluator's selection from all cells.
///
/// # Errors
/// Fails if the results differ or if tdb refuses the question.
pub fn check_ours(case: &Case, question: &Question, uri: &str) -> Result<(), Failure> {
    caught("read", || check(case, question, uri))
}

fn check(case: &Case, question: &Question, uri: &str) -> Result<(), Failure> {
    let array = ours::open(uri, case, question).map_err(Failure::ours)?;
    if let Some(point) = &question.selection.outside {
        ours::refuses(&array, point).map_err(Failure::ours)?;
    }
    let fields = all_fields(case, question, &array);
    let all = QuerySpec { fields, ranges: Vec::new(), ..question.query.clone() };
    let whole = ours::read(&array, &all, None).map_err(Failure::ours)?;
    let expected = choose(case, question, &typed(&array, whole));
    let order = settled(case, question, &expected);
    if order == Settled::Nothing && question.query.layout != Layout::Unordered {
        return Err(Failure::new(Kind::Cells, "tdb reads cells out of order".to_owned()));
    }
    compare_in_order(case, question, uri, &expected, &order).map_err(|failure| {
        let detail = format!("compared with all cells that tdb reads: {}", failure.detail);
        Failure { detail, ..failure }
    })?;
    if question.query.condition.is_some() && case.is_dense() {
        let whole = ours::matching(&array, &all, &Selection::default()).map_err(Failure::ours)?;
        let expected = choose(case, question, &typed(&array, whole));
        let spec = QuerySpec { fields: all.fields, ..question.query.clone() };
        let reading = ours::matching(&array, &spec, &question.selection).map_err(Failure::ours)?;
        let detail = difference(&expected, &reading, &Settled::Nothing);
        no_difference(Kind::Cells, detail.map(|detail| format!("of all cells that fulfil the condition: {detail}")))?;
    }
    Ok(())
}

/// Returns the fields of the question, followed by the remaining dimensions.
fn all_fields(case: &Case, question: &Question, array: &Array) -> Vec<String> {
    let mut fields = question.query.fields.clone();
    if fields.is_empty() {
        let dimensions = case.array.dimension_names().filter(|_| !case.is_dense());
        let attributes = array.schema().attributes().iter().map(|attribute| attribute.name());
        fields.extend(dimensions.chain(attributes).map(str::to_owned));
    }
    defects::add_dimensions(case, &mut fields);
    fields
}

/// Returns a question that the library can answer, for some of the cells, in an order in which the
/// library is reliable.
fn judged(case: &Case, question: &Question, fields: &[String], ranges: Vec<RangesSpec>) -> Question {
    let layout = if case.is_dense() { case.array.cell_order } else { Layout::Unordered };
    let query = QuerySpec { fields: fields.to_vec(), ranges, layout, ..question.query.clone() };
    Question { query, selection: Selection::default(), ..question.clone() }
}

/// Reads the answer to a judged question.
fn read(
    case: &Case,
    index: usize,
    judged: &Question,
    (reference, uri): (&mut Reference, &str),
) -> Result<ReadResult, End> {
    read_again(reference, uri, &with_coordinates(case, judged)).0.map_err(|error| {
        let mut asked = case.clone();
        asked.questions[index] = judged.clone();
        their_end(&asked, index, &error)
    })
}

/// Reads the cells of a question with the library, box by box. For too many boxes, or after a
/// misread box, a plain evaluator selects the cells from all cells. For a single box, also returns
/// the library's question.
fn their_cells(
    case: &Case,
    index: usize,
    fields: &[String],
    (reference, uri): (&mut Reference, &str),
    excuses: &mut Vec<String>,
) -> Result<(ReadResult, Option<Question>), End> {
    let question = &case.questions[index];
    let parts = parts(case, question);
    if parts.as_ref().is_some_and(Vec::is_empty) {
        return Ok((ReadResult::default(), None));
    }
    let of_part = |part: &Vec<_>| judged(case, question, fields, as_ranges(case, part));
    let parts: Option<Vec<Question>> = parts.map(|parts| parts.iter().map(of_part).collect());
    let wrong = parts.iter().flatten().find_map(|part| defects::is_wrong(case, part));
    excuses.extend(wrong.map(|reason| format!("read all cells, because the library {reason}")));
    let Some(parts) = parts.filter(|_| wrong.is_none()) else {
        let whole = read(case, index, &judged(case, question, fields, Vec::new()), (reference, uri))?;
        return Ok((sorted(case, question, &choose(case, question, &whole)), None));
    };
    let all = parts.iter().map(|part| read(case, index, part, (reference, uri)));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    let cells = join(case, &all).map_err(|detail| Failure::new(Kind::TheirError, detail))?;
    let alone = parts.into_iter().next().filter(|_| all.len() == 1);
    Ok((sorted(case, question, &cells), alone))
}

/// Merges the cells of all parts without repetitions. Parts with the same coordinates must contain
/// the same number of cells.
fn join(case: &Case, parts: &[ReadResult]) -> Result<ReadResult, String> {
    let mut known: HashMap<Place, usize> = HashMap::new();
    let mut all: Option<ReadResult> = None;
    for part in parts {
        let places = places(case, part);
        let mut here: HashMap<&Place, usize> = HashMap::new();
        places.iter().for_each(|place| *here.entry(place).or_default() += 1);
        if let Some((place, count)) =
            here.iter().find(|(place, count)| known.get(**place).is_some_and(|known| known != *count))
        {
            return Err(format!(
                "boxes have different numbers of cells at the same coordinates: {count} and {}",
                known[*place]
            ));
        }
        let new: Vec<usize> = (0..places.len()).filter(|cell| !known.contains_key(&places[*cell])).collect();
        known.extend(here.into_iter().map(|(place, count)| (place.clone(), count)));
        let new = take(part, &new);
        match &mut all {
            None => all = Some(new),
            Some(all) => append(all, &new),
        }
    }
    Ok(all.unwrap_or_default())
}

fn append(all: &mut ReadResult, new: &ReadResult) {
    all.cells += new.cells;
    for (whole, part) in all.columns.iter_mut().zip(&new.columns) {
        let (whole, part) = (&mut whole.column, &part.column);
        let start = whole.values.len() as u64;
        whole.values.0.extend_from_slice(&part.values);
        if let (Some(offsets), Some(new)) = (&mut whole.offsets, &part.offsets) {
            offsets.extend(new.iter().skip(1).map(|offset| start + offset));
        }
        if let (Some(validity), Some(new)) = (&mut whole.validity, &part.validity) {
            validity.0.extend_from_slice(new);
        }
    }
}

/// Sorts the cells by coordinates, if the layout of the question is row-major or column-major.
fn sorted(case: &Case, question: &Question, cells: &ReadResult) -> ReadResult {
    let mut places: Vec<(Place, usize)> = places(case, cells).into_iter().zip(0..).collect();
    match question.query.layout {
        Layout::RowMajor => {}
        Layout::ColMajor => places.iter_mut().for_each(|(place, _)| place.reverse()),
        _ => return cells.clone(),
    }
    places.sort();
    take(cells, &places.into_iter().map(|(_, cell)| cell).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;
