//! What one question gives on both sides, and how much of its order is settled.

use std::ops::Range;

use tdb_types::{ArrayType, Layout};

use super::case::{Case, Question};
use super::compare::{Settled, difference};
use super::ours;
use super::verdict::{Failure, Kind};
use crate::evaluation::merge;
use crate::scalars::order_of;
use tdb_reference::model::{QuerySpec, RangesSpec, ReadColumn, ReadResult};
use tdb_reference::{Error, Reference, Result};

/// About how many batches the second reading has at most.
const MOST_BATCHES: usize = 100;

/// What the library reads; asked a second time if it crashes, for it does so now and then. Says whether it crashed.
pub fn read_again(reference: &mut Reference, uri: &str, query: &QuerySpec) -> (Result<ReadResult>, bool) {
    match reference.read(uri, query) {
        Err(Error::Crashed { .. }) => (reference.read(uri, query), true),
        read => (read, false),
    }
}

/// Whether the coordinates are needed to know which cells may change places.
fn needs_coordinates(case: &Case, question: &Question) -> bool {
    let ordered = matches!(question.query.layout, Layout::RowMajor | Layout::ColMajor);
    let ties = (case.array.allows_dups || case.repeated) && question.query.layout == Layout::GlobalOrder;
    case.array.array_type == ArrayType::Sparse && (ordered || ties)
}

/// The question as the library is asked it: of cells with equal coordinates in one fragment, row- and column-major reads of several
/// fragments give one.
pub fn asked(case: &Case, question: &Question) -> Question {
    let mut asked = question.clone();
    if case.repeated && matches!(question.query.layout, Layout::RowMajor | Layout::ColMajor) {
        asked.query.layout = Layout::Unordered;
    }
    asked
}

/// The query for the library: with all dimensions behind the fields asked for, where they are needed to compare; with ranges that are
/// apart and in order, where it gives cells once for each range that holds them, and in the order of the ranges.
pub fn with_coordinates(case: &Case, question: &Question) -> QuerySpec {
    let mut query = question.query.clone();
    if case.array.array_type == ArrayType::Dense || query.layout != Layout::Unordered {
        query.ranges.iter_mut().for_each(|ranges| *ranges = merged(case, ranges));
    }
    if needs_coordinates(case, question) && !query.fields.is_empty() {
        let missing =
            case.array.dimension_names().filter(|name| !question.query.fields.iter().any(|field| field == name));
        query.fields.extend(missing.map(str::to_owned));
    }
    if case.array.array_type == ArrayType::Dense
        && let Some(current) = &case.array.current_domain
    {
        // Where a dimension has no range, we read its current domain, and the library its whole domain.
        for (dimension, ends) in case.array.dimensions.iter().zip(current) {
            if query.ranges.iter().all(|ranges| ranges.dimension != dimension.name) {
                query.ranges.push(RangesSpec { dimension: dimension.name.clone(), ranges: vec![ends.clone()] });
            }
        }
    }
    query
}

/// The same coordinates in ranges that are apart and in order.
pub fn merged(case: &Case, spec: &RangesSpec) -> RangesSpec {
    let dimension = case.array.dimensions.iter().find(|dimension| dimension.name == spec.dimension);
    let ranges = spec.ranges.clone();
    let ranges = dimension.map_or(ranges.clone(), |dimension| merge(dimension.datatype, ranges));
    RangesSpec { dimension: spec.dimension.clone(), ranges }
}

pub fn settled(case: &Case, question: &Question, theirs: &ReadResult) -> Settled {
    if question.query.layout == Layout::Unordered {
        return Settled::Nothing;
    }
    if !needs_coordinates(case, question) {
        return Settled::Fully;
    }
    let mut keys: Vec<Vec<(u64, Vec<u8>)>> = vec![Vec::new(); theirs.cells];
    for dimension in &case.array.dimensions {
        let column = theirs.columns.iter().find(|column| column.column.name == dimension.name);
        let cells = column.map(ReadColumn::cells).unwrap_or_default();
        keys.iter_mut().zip(cells).for_each(|(key, cell)| key.push(order_of(dimension.datatype, cell)));
    }
    match question.query.layout {
        Layout::RowMajor => {}
        Layout::ColMajor => keys.iter_mut().for_each(|key| key.reverse()),
        _ => return Settled::Runs(runs(&keys)),
    }
    // Now and then the library puts cells in another order than asked for: docs/internals/conformance.md.
    if keys.is_sorted() { Settled::Runs(runs(&keys)) } else { Settled::Nothing }
}

/// The runs of equal keys.
fn runs<K: PartialEq>(keys: &[K]) -> Vec<Range<usize>> {
    let mut start = 0;
    let chunks = keys.chunk_by(|a, b| a == b);
    chunks
        .map(|chunk| {
            start += chunk.len();
            start - chunk.len()..start
        })
        .collect()
}

pub fn compare_cells(
    case: &Case,
    question: &Question,
    uri: &str,
    theirs: &ReadResult,
) -> std::result::Result<(), Failure> {
    compare_in_order(case, question, uri, theirs, &settled(case, question, theirs))
}

/// The same, with what is settled of the order of the cells.
pub fn compare_in_order(
    case: &Case,
    question: &Question,
    uri: &str,
    theirs: &ReadResult,
    order: &Settled,
) -> std::result::Result<(), Failure> {
    let our_error = |detail| Failure::new(Kind::OurError, detail);
    let array = ours::open(uri, case, question).map_err(our_error)?;
    ours::plan(&array, question).map_err(our_error)?;
    let reading = ours::answer(&array, question, question.budget).map_err(our_error)?;
    if let Some(detail) = difference(theirs, &reading, order) {
        return Err(Failure::new(Kind::Cells, detail));
    }
    // So many batches are enough; each costs time.
    let tiny = question.tiny_budget.max(reading.bytes() / MOST_BATCHES);
    let again = ours::answer(&array, question, Some(tiny)).map_err(our_error)?;
    if reading.columns == again.columns {
        return Ok(());
    }
    match difference(theirs, &again, order) {
        Some(detail) => Err(Failure::new(Kind::Batches, detail)),
        None => Ok(()),
    }
}
