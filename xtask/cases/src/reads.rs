//! Reads a question on both sides, and determines how far the order of cells is defined.

use std::ops::Range;

use tdb_types::Layout;

use super::case::{Case, Question};
use super::compare::{Settled, difference};
use super::defects::add_dimensions;
use super::ours;
use super::verdict::{Failure, Kind, caught, no_difference};
use crate::evaluation::{merge, places};
use tdb_reference::model::{QuerySpec, RangesSpec, ReadResult};
use tdb_reference::{Error, Reference};

/// Approximate maximum number of batches of the second read.
const MOST_BATCHES: usize = 100;

/// Reads with the library, and retries once after a crash. The second value is `true` after a
/// crash.
pub fn read_again(
    reference: &mut Reference,
    uri: &str,
    query: &QuerySpec,
) -> (tdb_reference::Result<ReadResult>, bool) {
    match reference.read(uri, query) {
        Err(Error::Crashed { .. }) => (reference.read(uri, query), true),
        read => (read, false),
    }
}

/// `true` if coordinates are needed to determine which cells may be in any order.
fn needs_coordinates(case: &Case, question: &Question) -> bool {
    let ordered = matches!(question.query.layout, Layout::RowMajor | Layout::ColMajor);
    let ties = (case.array.allows_dups || case.repeated) && question.query.layout == Layout::GlobalOrder;
    !case.is_dense() && (ordered || ties)
}

/// Returns the question for the library. Some cells may have equal coordinates in one fragment. A
/// row- or column-major read of several fragments returns only one of these cells, and therefore
/// becomes unordered.
pub fn asked(case: &Case, question: &Question) -> Question {
    let mut asked = question.clone();
    if case.repeated && matches!(question.query.layout, Layout::RowMajor | Layout::ColMajor) {
        asked.query.layout = Layout::Unordered;
    }
    asked
}

/// Returns the query for the library. Adds all dimensions to the fields if the comparison needs
/// coordinates. Merges and sorts ranges for reads in which the library returns a cell once per
/// range, in the order of the ranges.
pub fn with_coordinates(case: &Case, question: &Question) -> QuerySpec {
    let mut query = question.query.clone();
    if case.is_dense() || query.layout != Layout::Unordered {
        query.ranges.iter_mut().for_each(|ranges| *ranges = merged(case, ranges));
    }
    if needs_coordinates(case, question) && !query.fields.is_empty() {
        add_dimensions(case, &mut query.fields);
    }
    if case.is_dense()
        && let Some(current) = &case.array.current_domain
    {
        // For a dimension without a range, tdb reads the current domain, and the library the whole
        // domain.
        for (dimension, ends) in case.array.dimensions.iter().zip(current) {
            if query.ranges.iter().all(|ranges| ranges.dimension != dimension.name) {
                query.ranges.push(RangesSpec { dimension: dimension.name.clone(), ranges: vec![ends.clone()] });
            }
        }
    }
    query
}

/// Merges ranges into sorted, disjoint ranges.
pub fn merged(case: &Case, spec: &RangesSpec) -> RangesSpec {
    let dimension = case.array.dimension(&spec.dimension);
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
    let mut keys = places(case, theirs);
    match question.query.layout {
        Layout::RowMajor => {}
        Layout::ColMajor => keys.iter_mut().for_each(|key| key.reverse()),
        _ => return Settled::Runs(runs(&keys)),
    }
    // The library sometimes returns cells out of order, see docs/internals/conformance.md.
    if keys.is_sorted() { Settled::Runs(runs(&keys)) } else { Settled::Nothing }
}

/// Returns the ranges of equal keys.
fn runs<K: PartialEq>(keys: &[K]) -> Vec<Range<usize>> {
    let mut start = 0;
    let run = |chunk: &[K]| {
        start += chunk.len();
        start - chunk.len()..start
    };
    keys.chunk_by(|a, b| a == b).map(run).collect()
}

/// Compares tdb's reads, in large and in tiny batches, with the library's cells.
pub fn compare_cells(case: &Case, question: &Question, uri: &str, theirs: &ReadResult) -> Result<(), Failure> {
    compare_in_order(case, question, uri, theirs, &settled(case, question, theirs))
}

/// Compares tdb's reads with the library's cells, given how far the order of cells is defined.
pub fn compare_in_order(
    case: &Case,
    question: &Question,
    uri: &str,
    theirs: &ReadResult,
    order: &Settled,
) -> Result<(), Failure> {
    caught("read", || {
        let array = ours::open(uri, case, question).map_err(Failure::ours)?;
        ours::plan(&array, question).map_err(Failure::ours)?;
        let reading = ours::answer(&array, question, question.budget).map_err(Failure::ours)?;
        no_difference(Kind::Cells, difference(theirs, &reading, order))?;
        // Limits the number of batches, each of which takes time.
        let tiny = question.tiny_budget.max(reading.bytes() / MOST_BATCHES);
        let again = ours::answer(&array, question, Some(tiny)).map_err(Failure::ours)?;
        let is_same = reading.columns == again.columns;
        if is_same { Ok(()) } else { no_difference(Kind::Batches, difference(theirs, &again, order)) }
    })
}
