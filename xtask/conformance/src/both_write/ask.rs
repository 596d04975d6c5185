//! Runs one question on the arrays of both sides.

use tdb_cases::case::Case;
use tdb_cases::compare::difference;
use tdb_cases::defects;
use tdb_cases::ours::Reading;
use tdb_cases::reads::{compare_cells, read_again, settled, with_coordinates};
use tdb_cases::verdict::{End, Failure, Kind, excuse};
use tdb_reference::model::ReadResult;
use tdb_reference::{Reference, Release};

use crate::examine::{misread, unanswered};

/// Reads both arrays with the library, and tdb's array with tdb. `releases` are the older releases
/// that wrote the arrays, if any. Returns the cells that all reads return.
pub fn ask(
    case: &Case,
    index: usize,
    releases: &[Release],
    reference: &mut Reference,
    [theirs, ours]: [&str; 2],
) -> Result<ReadResult, End> {
    let question = &case.questions[index];
    excuse(defects::is_wrong(case, question))?;
    let query = with_coordinates(case, question);
    let mut read = |uri| {
        let read = read_again(reference, uri, &query).0;
        read.map_err(|error| unanswered(case, index, releases, reference, [ours, ours], &error))
    };
    let (expected, got) = (read(theirs)?, read(ours)?);
    excuse(defects::lacks_cells(case, question, &expected))?;
    let by_them = difference(&expected, &Reading::of(&got), &settled(case, question, &expected))
        .map(|detail| Failure::new(Kind::Cells, format!("the library reads from the array of tdb: {detail}")));
    let by_us = || compare_cells(case, question, ours, &expected).err();
    let Some(failure) = by_them.or_else(by_us) else { return Ok(expected) };
    excuse(misread(case, question, releases, reference, [ours, ours], &failure))?;
    Err(failure.into())
}
