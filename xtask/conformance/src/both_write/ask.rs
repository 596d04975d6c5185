//! Runs one question on the arrays of both sides.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tdb_cases::case::Case;
use tdb_cases::compare::difference;
use tdb_cases::defects;
use tdb_cases::ours::Reading;
use tdb_cases::reads::{compare_cells, read_again, settled, with_coordinates};
use tdb_cases::their_errors::{as_failure, excuse, has_no_end};
use tdb_cases::verdict::{Failure, Kind};
use tdb_reference::model::{QuerySpec, ReadResult};
use tdb_reference::{Error, Reference, Release, Result};

use crate::examine::misread;

/// The outcome of a question about both arrays.
#[derive(Debug)]
pub enum Answer {
    /// The library reads the same cells from both arrays, and so does tdb from tdb's array.
    Same(ReadResult),
    Excused(String),
    /// The library timed out, and other questions would time out too.
    Endless(String),
    Failed(Failure),
}

/// Reads both arrays with the library, and tdb's array with tdb. `releases` are the older releases
/// that wrote the arrays, if any.
pub fn ask(
    case: &Case,
    index: usize,
    releases: &[Release],
    reference: &mut Reference,
    [theirs, ours]: [&str; 2],
) -> Result<Answer> {
    let question = &case.questions[index];
    if let Some(reason) = defects::is_wrong(case, question) {
        return Ok(Answer::Excused(reason.to_owned()));
    }
    let [expected, got] = match read_both(reference, [theirs, ours], &with_coordinates(case, question)) {
        Ok(both) => both,
        Err(error) => return unanswered(case, index, releases, reference, ours, &error),
    };
    if let Some(reason) = defects::lacks_cells(case, question, &expected) {
        return Ok(Answer::Excused(reason.to_owned()));
    }
    let order = settled(case, question, &expected);
    let by_them = difference(&expected, &Reading::of(&got), &order)
        .map(|detail| Failure::new(Kind::Cells, format!("the library reads from our array: {detail}")));
    let by_us = || catch_unwind(AssertUnwindSafe(|| compare_cells(case, question, ours, &expected)));
    let failure = by_them.or_else(|| match by_us() {
        Ok(result) => result.err(),
        Err(_) => Some(Failure::new(Kind::OurPanic, "our reader panicked".to_owned())),
    });
    let Some(mut failure) = failure else { return Ok(Answer::Same(expected)) };
    if let Some(rule) = misread(case, question, releases, reference, [ours, ours], &failure)? {
        return Ok(Answer::Excused(rule.to_owned()));
    }
    failure.question = Some(index);
    Ok(Answer::Failed(failure))
}

/// Reads both arrays with the library. Skips tdb's array if the first read fails.
fn read_both(reference: &mut Reference, [theirs, ours]: [&str; 2], query: &QuerySpec) -> Result<[ReadResult; 2]> {
    let expected = read_again(reference, theirs, query).0?;
    let got = read_again(reference, ours, query).0?;
    Ok([expected, got])
}

/// Classifies a question that the library failed to answer.
pub(super) fn unanswered(
    case: &Case,
    index: usize,
    releases: &[Release],
    reference: &mut Reference,
    ours: &str,
    error: &Error,
) -> Result<Answer> {
    if has_no_end(error) {
        return Ok(Answer::Endless(error.to_string()));
    }
    if let Some(reason) = excuse(case, Some(index), error) {
        return Ok(Answer::Excused(reason));
    }
    let failure = as_failure(Some(index), error);
    let unread = Failure { kind: Kind::Cells, ..failure.clone() };
    Ok(match misread(case, &case.questions[index], releases, reference, [ours, ours], &unread)? {
        Some(rule) => Answer::Excused(rule.to_owned()),
        None => Answer::Failed(failure),
    })
}
