//! Runs a case on both sides.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tdb_cases::case::{Case, Question};
use tdb_cases::compare::{Settled, difference};
use tdb_cases::defects;
use tdb_cases::make_ours::write;
use tdb_cases::ours::{self, Reading};
use tdb_cases::overhang::{self, WideArray};
use tdb_cases::place::Place;
use tdb_cases::reads::{asked, compare_cells, compare_in_order, read_again, settled, with_coordinates};
use tdb_cases::their_errors::{has_no_end, their_failure};
use tdb_cases::verdict::{Failure, Kind, Verdict};
use tdb_cases::writer::{Writer, make, set_checks, set_key};
use tdb_reference::{Reference, Release, Result};
use tdb_types::FormatVersion;

use super::{aggregates, facts, selected};

/// Runs a case in a new folder below `folder`. The writer creates the array, or else the reading
/// release does. If cells are not in global order, the library returns stored order. The comparison
/// then uses a second array with the same cells in order.
///
/// # Errors
/// Fails if the folder cannot be created or the library's process cannot be started.
pub fn examine(
    case: &Case,
    mut writer: Option<&mut Writer>,
    reference: &mut Reference,
    folder: &Path,
) -> Result<Verdict> {
    let releases = writer.as_ref().map(|writer| writer.releases()).unwrap_or_default();
    let releases = releases.as_slice();
    for side in writer.iter_mut().flat_map(|writer| writer.sides()).chain([&mut *reference]) {
        set_key(side, case.encrypted);
        set_checks(side, case);
    }
    let place = Place::new(folder)?;
    let [uri, in_order] = ["array", "in order"].map(|name| place.uri(name));
    // Schemas of older versions hold less and are not compared completely. The fixtures cover these
    // schemas.
    let whole_schema = writer.is_none();
    let sorted = case.sorted();
    for (case, uri) in [(Some(case), &uri), (sorted.as_ref(), &in_order)] {
        let Some(case) = case else { continue };
        let made = match &mut writer {
            Some(writer) => writer.make(case, uri),
            // tdb writes where the library would crash.
            None if overhang::is_written(case) => {
                if let Some(verdict) = write(case, (0, FormatVersion::DEFAULT), reference, uri)? {
                    return Ok(verdict);
                }
                Ok(())
            }
            None => make(case, reference, uri),
        };
        if let Err(error) = made {
            let reason = releases.iter().find_map(|release| defects::refusal(*release, &error.to_string()));
            if let Some(reason) = reason {
                return Ok(Verdict::Excused(reason.to_owned()));
            }
            return Ok(their_failure(case, None, &error));
        }
    }
    if let Some(failure) = compare_facts(case, reference, &uri, whole_schema)? {
        return Ok(Verdict::Failed(failure));
    }
    let theirs = if sorted.is_some() { &in_order } else { &uri };
    match overhang::wide_array(case, reference, &place) {
        Ok(wide) => compare_questions(case, releases, reference, [theirs, &uri], wide.as_ref()),
        Err(error) => Ok(their_failure(case, None, &error)),
    }
}

/// Runs all questions. The library reads the first array, and tdb the second. If the library cannot
/// read the array itself, the wide array is used.
pub fn compare_questions(
    case: &Case,
    releases: &[Release],
    reference: &mut Reference,
    uris: [&str; 2],
    wide: Option<&WideArray>,
) -> Result<Verdict> {
    let (mut reads, mut cells, mut excuses) = (0, 0, Vec::new());
    for index in 0..case.questions.len() {
        let answers = match wide {
            None => compare_answers(case, index, releases, reference, uris, &mut excuses)?,
            Some(wide) => compare_with_wide(wide, case, index, reference, uris[1], &mut excuses)?,
        };
        match answers {
            ControlFlow::Continue(None) => {}
            ControlFlow::Continue(Some(count)) => {
                reads += 1;
                cells += count;
            }
            ControlFlow::Break(verdict) => return Ok(verdict),
        }
    }
    Ok(Verdict::Agreed { reads, cells, excuses })
}

/// Runs one question: the library on the first array, tdb on the second. Returns the number of
/// compared cells if any, or the verdict that ends the case.
fn compare_answers(
    case: &Case,
    index: usize,
    releases: &[Release],
    reference: &mut Reference,
    uris @ [their_uri, uri]: [&str; 2],
    excuses: &mut Vec<String>,
) -> Result<ControlFlow<Verdict, Option<u64>>> {
    let question = &case.questions[index];
    if question.selection.is_set() {
        return selected::compare_sets(case, index, reference, uris, None, excuses);
    }
    let asked = asked(case, question);
    let wrong = defects::is_wrong(case, &asked);
    // If the library is not asked, or is asked for another order, tdb's result is checked against
    // all cells. This needs cells in global order.
    let unasked = (wrong.is_some() || asked != *question) && releases.is_empty() && !case.disordered;
    if let Some(failed) = fails_by_itself(case, index, uri, unasked) {
        return Ok(failed);
    }
    if let Some(reason) = wrong {
        excuses.push(reason.to_owned());
        return Ok(ControlFlow::Continue(None));
    }
    let query = with_coordinates(case, &asked);
    let (theirs, crashed) = read_again(reference, their_uri, &query);
    if crashed && theirs.is_ok() {
        excuses.push("crashed in a read, and succeeded on retry".to_owned());
    }
    let theirs = match theirs {
        Ok(theirs) => theirs,
        Err(error) if has_no_end(&error) => return Ok(ControlFlow::Break(their_failure(case, Some(index), &error))),
        Err(error) => {
            let unread = Failure::new(Kind::Cells, error.to_string());
            let reason = match their_failure(case, Some(index), &error) {
                Verdict::Excused(reason) => reason,
                failed => match misread(case, question, releases, reference, uris, &unread)? {
                    Some(rule) => rule.to_owned(),
                    None => return Ok(ControlFlow::Break(failed)),
                },
            };
            excuses.push(reason);
            return Ok(ControlFlow::Continue(None));
        }
    };
    if let Some(reason) = defects::lacks_cells(case, &asked, &theirs) {
        excuses.push(reason.to_owned());
        return Ok(ControlFlow::Continue(None));
    }
    // The library may have been asked for another order. Then the order is not compared.
    let order = settled(case, &asked, &theirs);
    let outcome = catch_unwind(AssertUnwindSafe(|| compare_in_order(case, question, uri, &theirs, &order)));
    let outcome = outcome.unwrap_or_else(|_| Err(Failure::new(Kind::OurPanic, "our reader panicked".to_owned())));
    if outcome.is_ok() && !question.aggregates.is_empty() {
        let differs = aggregates::compare(case, question, reference, uris, (&query, theirs.cells), excuses)?;
        if let Some(failure) = differs {
            return Ok(ControlFlow::Break(Verdict::Failed(Failure { question: Some(index), ..failure })));
        }
    }
    if let Err(mut failure) = outcome {
        match misread(case, question, releases, reference, uris, &failure)? {
            Some(rule) => excuses.push(rule.to_owned()),
            None => {
                failure.question = Some(index);
                return Ok(ControlFlow::Break(Verdict::Failed(failure)));
            }
        }
    }
    Ok(ControlFlow::Continue(Some(theirs.cells as u64)))
}

/// Checks tdb's result against all cells of the array, if the library is not asked or tdb reads a
/// selection.
fn fails_by_itself<T>(case: &Case, index: usize, uri: &str, unasked: bool) -> Option<ControlFlow<Verdict, T>> {
    let question = &case.questions[index];
    if !unasked && question.selection.is_plain() {
        return None;
    }
    let failure = selected::check_ours(case, question, uri).err()?;
    Some(ControlFlow::Break(Verdict::Failed(Failure { question: Some(index), ..failure })))
}

/// Compares reads of an array whose last tile ends at or beyond the end of the datatype. tdb must
/// read the same cells as the library reads from the wide array. The library must read the same
/// cells too, unless it crashes.
fn compare_with_wide(
    wide: &WideArray,
    case: &Case,
    index: usize,
    reference: &mut Reference,
    uri: &str,
    excuses: &mut Vec<String>,
) -> Result<ControlFlow<Verdict, Option<u64>>> {
    let question = &case.questions[index];
    if question.selection.is_set() {
        return selected::compare_sets(case, index, reference, [&wide.uri, uri], Some(wide), excuses);
    }
    if let Some(failed) = fails_by_itself(case, index, uri, question.query.condition.is_some()) {
        return Ok(failed);
    }
    if question.query.condition.is_some() {
        excuses.push("not asked about a condition where the wide array replaces this one".to_owned());
        return Ok(ControlFlow::Continue(None));
    }
    let failed = |failure| {
        let failure = Failure { question: Some(index), ..failure };
        Ok(ControlFlow::Break(Verdict::Failed(failure)))
    };
    let query = with_coordinates(&wide.case, &wide.case.questions[index]);
    let expected = match read_again(reference, &wide.uri, &query).0 {
        Ok(expected) => overhang::narrowed(case, expected),
        Err(error) => return Ok(ControlFlow::Break(their_failure(case, Some(index), &error))),
    };
    let wrong = match overhang::is_read(case, question) {
        true => defects::is_wrong(case, question),
        false => {
            Some("crashes on tiles that end at or beyond the end of the datatype, whose cells came from the wide array")
        }
    };
    if let Some(reason) = wrong {
        excuses.push(reason.to_owned());
    } else {
        let theirs = match read_again(reference, uri, &with_coordinates(case, question)).0 {
            Ok(theirs) => theirs,
            Err(error) => return Ok(ControlFlow::Break(their_failure(case, Some(index), &error))),
        };
        if let Some(detail) = difference(&expected, &Reading::of(&theirs), &settled(case, question, &expected)) {
            return failed(Failure::new(Kind::Cells, format!("the library reads from the array: {detail}")));
        }
    }
    match catch_unwind(AssertUnwindSafe(|| compare_cells(case, question, uri, &expected))) {
        Ok(Ok(())) => Ok(ControlFlow::Continue(Some(expected.cells as u64))),
        Ok(Err(failure)) => failed(failure),
        Err(_) => failed(Failure::new(Kind::OurPanic, "our reader panicked".to_owned())),
    }
}

/// Returns the library's defect that explains different cells, or `None`. A question that avoids
/// the defect must return tdb's cells.
pub fn misread(
    case: &Case,
    question: &Question,
    releases: &[Release],
    reference: &mut Reference,
    [theirs, ours]: [&str; 2],
    failure: &Failure,
) -> Result<Option<&'static str>> {
    let Some(rule) = defects::misreads(case, question, releases, reference.release()) else { return Ok(None) };
    if failure.kind != Kind::Cells {
        return Ok(None);
    }
    let Ok(whole) = reference.read(theirs, &defects::whole_question(case, question)) else { return Ok(None) };
    let theirs = defects::choose(case, question, &whole);
    let read = || {
        let array = ours::open(ours, case, question)?;
        ours::answer(&array, question, question.budget)
    };
    let Ok(reading) = read() else { return Ok(None) };
    Ok(difference(&theirs, &reading, &Settled::Nothing).is_none().then_some(rule))
}

pub fn compare_facts(case: &Case, reference: &mut Reference, uri: &str, whole_schema: bool) -> Result<Option<Failure>> {
    let array = match ours::open_with(&ours::options(case), uri) {
        Ok(array) => array,
        Err(error) => return Ok(Some(Failure::new(Kind::OurError, error))),
    };
    if whole_schema && let Some(detail) = facts::schema_difference(case, &array) {
        return Ok(Some(Failure::new(Kind::Schema, detail)));
    }
    let fragments = match reference.fragments(uri) {
        Ok(fragments) => fragments,
        Err(error) => return Ok(Some(Failure::new(Kind::TheirError, error.to_string()))),
    };
    let detail = facts::fragment_difference(&fragments, &array);
    Ok(detail.map(|detail| Failure::new(Kind::Fragments, detail)))
}
