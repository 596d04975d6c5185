//! Compares reads of points, boxes and open-ended ranges on both sides.
//!
//! A plain evaluator also selects the cells of the question from all cells of tdb's array, and
//! tdb's result must be the same.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tdb_array::Array;
use tdb_cases::case::{Case, Question};
use tdb_cases::compare::{Settled, difference};
use tdb_cases::evaluation::{as_ranges, parts};
use tdb_cases::overhang::{self, WideArray};
use tdb_cases::reads::{compare_in_order, read_again, settled, with_coordinates};
use tdb_cases::scalars::order_of;
use tdb_cases::selection::Selection;
use tdb_cases::their_errors::{has_no_end, their_failure};
use tdb_cases::verdict::{Failure, Kind, Verdict};
use tdb_cases::{defects, ours};
use tdb_reference::model::{QuerySpec, RangesSpec, ReadResult};
use tdb_reference::{Reference, Result};
use tdb_types::{ArrayType, Layout};

use super::aggregates;
use super::chosen::{choose, coordinates, take, typed};

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
) -> Result<ControlFlow<Verdict, Option<u64>>> {
    let question = &case.questions[index];
    let failed = |failure| Ok(ControlFlow::Break(Verdict::Failed(Failure { question: Some(index), ..failure })));
    if let Err(failure) = check_ours(case, question, uri) {
        return failed(failure);
    }
    let fields = match ours::open(uri, case, question) {
        Ok(array) => all_fields(case, question, &array),
        Err(detail) => return failed(Failure::new(Kind::OurError, detail)),
    };
    let theirs = match wide {
        None => their_cells(case, index, &fields, (reference, their_uri), excuses)?,
        Some(_) if question.query.condition.is_some() => {
            excuses.push("not asked about a condition where the wide array replaces this one".to_owned());
            return Ok(ControlFlow::Continue(None));
        }
        Some(wide) => {
            let whole = Judged::whole(&wide.case, &wide.case.questions[index], &fields);
            let read = whole.read(&wide.case, index, (reference, &wide.uri))?;
            let chosen = |cells| sorted(case, question, &choose(case, question, &overhang::narrowed(case, cells)));
            read.map_continue(|cells| cells.map(|cells| (chosen(cells), None)))
        }
    };
    let (theirs, judged) = match theirs {
        ControlFlow::Continue(Answer::Read((theirs, judged))) => (theirs, judged),
        ControlFlow::Continue(Answer::Excused(reason)) => {
            excuses.push(reason);
            return Ok(ControlFlow::Continue(None));
        }
        ControlFlow::Break(verdict) => return Ok(ControlFlow::Break(verdict)),
    };
    // A result in global order is only compared with all cells of tdb's array.
    let order = match question.query.layout {
        Layout::RowMajor | Layout::ColMajor => settled(case, question, &theirs),
        _ => Settled::Nothing,
    };
    let reading = ours::open(uri, case, question).and_then(|array| ours::answer(&array, question, question.budget));
    let reading = match reading {
        Ok(reading) => reading,
        Err(detail) => return failed(Failure::new(Kind::OurError, detail)),
    };
    if let Some(detail) = difference(&theirs, &reading, &order) {
        return failed(Failure::new(Kind::Cells, detail));
    }
    if !question.aggregates.is_empty() {
        let judged = judged.as_ref().map(|judged| (&judged.0, theirs.cells));
        if let Some(failure) = aggregates::compare_sets(case, question, reference, [their_uri, uri], judged, excuses)? {
            return failed(failure);
        }
    }
    Ok(ControlFlow::Continue(Some(theirs.cells as u64)))
}

fn panicked() -> Failure {
    Failure::new(Kind::OurPanic, "our reader panicked".to_owned())
}

/// Compares tdb's result for a selection with a plain evaluator's selection from all cells.
///
/// # Errors
/// Fails if the results differ or if tdb refuses the question.
pub fn check_ours(case: &Case, question: &Question, uri: &str) -> std::result::Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(|| check(case, question, uri))).unwrap_or_else(|_| Err(panicked()))
}

fn check(case: &Case, question: &Question, uri: &str) -> std::result::Result<(), Failure> {
    let our_error = |detail| Failure::new(Kind::OurError, detail);
    let array = ours::open(uri, case, question).map_err(our_error)?;
    if let Some(point) = &question.selection.outside {
        ours::refuses(&array, point).map_err(our_error)?;
    }
    let fields = all_fields(case, question, &array);
    let all = QuerySpec { fields, ranges: Vec::new(), ..question.query.clone() };
    let whole = ours::read(&array, &all, None).map_err(our_error)?;
    let expected = choose(case, question, &typed(&array, whole));
    let order = settled(case, question, &expected);
    if order == Settled::Nothing && question.query.layout != Layout::Unordered {
        return Err(Failure::new(Kind::Cells, "all cells that tdb reads are not in order".to_owned()));
    }
    compare_in_order(case, question, uri, &expected, &order).map_err(|failure| {
        let detail = format!("compared with all cells that tdb reads: {}", failure.detail);
        Failure { detail, ..failure }
    })?;
    if question.query.condition.is_some() && case.array.array_type == ArrayType::Dense {
        let whole = ours::all_matching(&array, &all).map_err(our_error)?;
        let expected = choose(case, question, &typed(&array, whole));
        let spec = QuerySpec { fields: all.fields, ..question.query.clone() };
        let reading = ours::matching(&array, &spec, &question.selection).map_err(our_error)?;
        if let Some(detail) = difference(&expected, &reading, &Settled::Nothing) {
            return Err(Failure::new(Kind::Cells, format!("of all cells that fulfil the condition: {detail}")));
        }
    }
    Ok(())
}

/// Returns the fields of the question, followed by the remaining dimensions.
fn all_fields(case: &Case, question: &Question, array: &Array) -> Vec<String> {
    let mut fields = question.query.fields.clone();
    if fields.is_empty() {
        let dimensions = case.array.dimension_names().filter(|_| case.array.array_type == ArrayType::Sparse);
        let attributes = array.schema().attributes().iter().map(|attribute| attribute.name());
        fields.extend(dimensions.chain(attributes).map(str::to_owned));
    }
    let missing: Vec<String> = case
        .array
        .dimension_names()
        .filter(|name| fields.iter().all(|field| field != name))
        .map(str::to_owned)
        .collect();
    fields.extend(missing);
    fields
}

/// The library's cells, or the reason for a skipped read.
enum Answer<T> {
    Read(T),
    Excused(String),
}

impl<T> Answer<T> {
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Self::Read(read) => Answer::Read(change(read)),
            Self::Excused(reason) => Answer::Excused(reason),
        }
    }
}

/// A question that the library can answer.
struct Judged(Question);

impl Judged {
    /// Creates a question for some of the cells, in an order in which the library is reliable.
    fn new(case: &Case, question: &Question, fields: &[String], ranges: Vec<RangesSpec>) -> Self {
        let layout = match case.array.array_type {
            ArrayType::Dense => case.array.cell_order,
            ArrayType::Sparse => Layout::Unordered,
        };
        let query = QuerySpec { fields: fields.to_vec(), ranges, layout, ..question.query.clone() };
        Self(Question { query, selection: Selection::default(), ..question.clone() })
    }

    fn whole(case: &Case, question: &Question, fields: &[String]) -> Self {
        Self::new(case, question, fields, Vec::new())
    }

    fn read(
        &self,
        case: &Case,
        index: usize,
        (reference, uri): (&mut Reference, &str),
    ) -> Result<ControlFlow<Verdict, Answer<ReadResult>>> {
        let error = match read_again(reference, uri, &with_coordinates(case, &self.0)).0 {
            Ok(read) => return Ok(ControlFlow::Continue(Answer::Read(read))),
            Err(error) => error,
        };
        let mut asked = case.clone();
        asked.questions[index] = self.0.clone();
        Ok(match their_failure(&asked, Some(index), &error) {
            Verdict::Excused(reason) if !has_no_end(&error) => ControlFlow::Continue(Answer::Excused(reason)),
            verdict => ControlFlow::Break(verdict),
        })
    }
}

type TheirCells = (ReadResult, Option<Judged>);

/// Reads the cells of a question with the library, box by box. For too many boxes, or after a
/// misread box, a plain evaluator selects the cells from all cells. For a single box, also returns
/// the library's question.
fn their_cells(
    case: &Case,
    index: usize,
    fields: &[String],
    (reference, uri): (&mut Reference, &str),
    excuses: &mut Vec<String>,
) -> Result<ControlFlow<Verdict, Answer<TheirCells>>> {
    let question = &case.questions[index];
    let parts = parts(case, question);
    if parts.as_ref().is_some_and(Vec::is_empty) {
        return Ok(ControlFlow::Continue(Answer::Read((ReadResult::default(), None))));
    }
    let parts: Option<Vec<Judged>> = parts
        .map(|parts| parts.iter().map(|part| Judged::new(case, question, fields, as_ranges(case, part))).collect());
    let wrong = parts.iter().flatten().find_map(|part| defects::is_wrong(case, &part.0));
    excuses.extend(wrong.map(|reason| format!("read all cells, because the library {reason}")));
    let Some(parts) = parts.filter(|_| wrong.is_none()) else {
        let whole = Judged::whole(case, question, fields).read(case, index, (reference, uri))?;
        return Ok(whole
            .map_continue(|cells| cells.map(|cells| (sorted(case, question, &choose(case, question, &cells)), None))));
    };
    let mut all = Vec::new();
    for part in &parts {
        match part.read(case, index, (reference, uri))? {
            ControlFlow::Continue(Answer::Read(cells)) => all.push(cells),
            other => return Ok(other.map_continue(|cells| cells.map(|cells| (cells, None)))),
        }
    }
    Ok(match join(case, &all) {
        Ok(cells) => {
            let alone = parts.into_iter().next().filter(|_| all.len() == 1);
            ControlFlow::Continue(Answer::Read((sorted(case, question, &cells), alone)))
        }
        Err(detail) => {
            let failure = Failure { question: Some(index), ..Failure::new(Kind::TheirError, detail) };
            ControlFlow::Break(Verdict::Failed(failure))
        }
    })
}

type Place = Vec<(u64, Vec<u8>)>;

fn places(case: &Case, cells: &ReadResult) -> Vec<Place> {
    let place = |values: Vec<&[u8]>| {
        let along = case.array.dimensions.iter().zip(values);
        along.map(|(dimension, value)| order_of(dimension.datatype, value)).collect()
    };
    coordinates(case, cells).into_iter().map(place).collect()
}

/// Merges the cells of all parts without repetitions. Parts with the same coordinates must contain
/// the same number of cells.
fn join(case: &Case, parts: &[ReadResult]) -> std::result::Result<ReadResult, String> {
    let mut known: HashMap<Place, usize> = HashMap::new();
    let mut all: Option<ReadResult> = None;
    for part in parts {
        let places = places(case, part);
        let mut here: HashMap<&Place, usize> = HashMap::new();
        places.iter().for_each(|place| *here.entry(place).or_default() += 1);
        if let Some((place, count)) =
            here.iter().find(|(place, count)| known.get(**place).is_some_and(|known| known != *count))
        {
            return Err(format!("one box has {count} cells at a place, and another one {}", known[*place]));
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
