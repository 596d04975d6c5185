//! Runs a case on both sides.

use std::path::Path;

use tdb_cases::case::{Case, Question};
use tdb_cases::compare::{Settled, difference};
use tdb_cases::ours::{self, Reading};
use tdb_cases::overhang::{self, WideArray};
use tdb_cases::place::Place;
use tdb_cases::reads::{asked, compare_cells, compare_in_order, read_again, settled, with_coordinates};
use tdb_cases::their_errors::{their_end, their_failure};
use tdb_cases::verdict::{End, Failure, Kind, Verdict, ask_all, excuse, no_difference};
use tdb_cases::writer::{Writer, make, set_checks, set_key};
use tdb_cases::{defects, evaluation};
use tdb_reference::{Error, Reference, Release};
use tdb_types::FormatVersion;

use super::selected::NOT_OF_WIDE;
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
) -> Result<Verdict, End> {
    let releases = writer.as_ref().map(|writer| writer.releases()).unwrap_or_default();
    let releases = releases.as_slice();
    for side in writer.iter_mut().flat_map(|writer| writer.sides()).chain([&mut *reference]) {
        set_key(side, case.encrypted);
        set_checks(side, case);
    }
    let place = Place::new(folder);
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
                ours::make(case, (0, FormatVersion::DEFAULT), reference, uri)?;
                continue;
            }
            None => make(case, reference, uri),
        };
        made.map_err(|error| {
            let reason = releases.iter().find_map(|release| defects::refusal(*release, &error.to_string()));
            reason.map_or_else(|| their_failure(case, None, &error), |reason| Verdict::Excused(reason.to_owned()))
        })?;
    }
    compare_facts(case, reference, &uri, whole_schema)?;
    let theirs = if sorted.is_some() { &in_order } else { &uri };
    let wide = overhang::wide_array(case, reference, &place).map_err(|error| their_failure(case, None, &error))?;
    compare_questions(case, releases, reference, [theirs, &uri], wide.as_ref())
}

/// Runs all questions. The library reads the first array, and tdb the second. If the library cannot
/// read the array itself, the wide array is used.
pub fn compare_questions(
    case: &Case,
    releases: &[Release],
    reference: &mut Reference,
    uris: [&str; 2],
    wide: Option<&WideArray>,
) -> Result<Verdict, End> {
    ask_all(case.questions.len(), |index, excuses| match wide {
        _ if case.questions[index].selection.is_set() => {
            selected::compare_sets(case, index, reference, uris, wide, excuses)
        }
        None => compare_answers(case, index, releases, reference, uris, excuses),
        Some(wide) => compare_with_wide(wide, case, index, reference, uris[1], excuses),
    })
}

/// Returns the number of compared cells.
fn compare_answers(
    case: &Case,
    index: usize,
    releases: &[Release],
    reference: &mut Reference,
    uris @ [their_uri, uri]: [&str; 2],
    excuses: &mut Vec<String>,
) -> Result<usize, End> {
    let question = &case.questions[index];
    let asked = asked(case, question);
    let wrong = defects::is_wrong(case, &asked);
    // tdb is compared with all cells of the array if the library is not asked or tdb reads a
    // selection.
    let unasked = (wrong.is_some() || asked != *question) && releases.is_empty() && !case.disordered;
    if unasked || !question.selection.is_plain() {
        selected::check_ours(case, question, uri)?;
    }
    excuse(wrong)?;
    let query = with_coordinates(case, &asked);
    let (theirs, crashed) = read_again(reference, their_uri, &query);
    if crashed && theirs.is_ok() {
        excuses.push("crashed in a read, and succeeded on retry".to_owned());
    }
    let theirs = theirs.map_err(|error| unanswered(case, index, releases, reference, uris, &error))?;
    excuse(defects::lacks_cells(case, &asked, &theirs))?;
    let order = settled(case, &asked, &theirs);
    match compare_in_order(case, question, uri, &theirs, &order) {
        Ok(()) if question.aggregates.is_empty() => {}
        Ok(()) => {
            aggregates::compare(case, question, reference, uris, Some((question, &query, theirs.cells)), excuses)?
        }
        Err(failure) => match misread(case, question, releases, reference, uris, &failure) {
            Some(rule) => excuses.push(rule.to_owned()),
            None => return Err(failure.into()),
        },
    }
    Ok(theirs.cells)
}

/// Ends a question on which the library failed.
pub fn unanswered(
    case: &Case,
    index: usize,
    releases: &[Release],
    reference: &mut Reference,
    uris: [&str; 2],
    error: &Error,
) -> End {
    let end = their_end(case, index, error);
    if !matches!(end, End::Verdict(Verdict::Failed(_))) {
        return end;
    }
    let unread = Failure::new(Kind::Cells, error.to_string());
    let rule = misread(case, &case.questions[index], releases, reference, uris, &unread);
    rule.map_or(end, |rule| End::Excused(rule.to_owned()))
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
) -> Result<usize, End> {
    let question = &case.questions[index];
    let has_condition = question.query.condition.is_some();
    if has_condition || !question.selection.is_plain() {
        selected::check_ours(case, question, uri)?;
    }
    excuse(has_condition.then_some(NOT_OF_WIDE))?;
    let mut read = |uri: &str, case: &Case| {
        let read = read_again(reference, uri, &with_coordinates(case, &case.questions[index])).0;
        read.map_err(|error| their_failure(case, Some(index), &error))
    };
    let expected = overhang::narrowed(case, read(&wide.uri, &wide.case)?);
    let wrong = match overhang::is_read(case, question) {
        true => defects::is_wrong(case, question),
        false => {
            Some("crashes on tiles that end at or beyond the end of the datatype, whose cells came from the wide array")
        }
    };
    match wrong {
        Some(reason) => excuses.push(reason.to_owned()),
        None => {
            let theirs = Reading::of(&read(uri, case)?);
            let detail = difference(&expected, &theirs, &settled(case, question, &expected));
            no_difference(Kind::Cells, detail.map(|detail| format!("the library reads from the array: {detail}")))?;
        }
    }
    compare_cells(case, question, uri, &expected)?;
    Ok(expected.cells)
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
) -> Option<&'static str> {
    let rule = defects::misreads(case, question, releases, reference.release())?;
    if failure.kind != Kind::Cells {
        return None;
    }
    let whole = reference.read(theirs, &defects::whole_question(case, question)).ok()?;
    let theirs = evaluation::choose(case, question, &whole);
    let array = ours::open(ours, case, question).ok()?;
    let reading = ours::answer(&array, question, question.budget).ok()?;
    difference(&theirs, &reading, &Settled::Nothing).is_none().then_some(rule)
}

/// Compares the schema and the fragments of an array with those that the library reports.
pub fn compare_facts(case: &Case, reference: &mut Reference, uri: &str, whole_schema: bool) -> Result<(), Failure> {
    let array = ours::open_with(&ours::options(case), uri).map_err(Failure::ours)?;
    if whole_schema {
        facts::compare_schema(case, &array).map_err(|detail| Failure::new(Kind::Schema, detail))?;
    }
    let fragments = reference.fragments(uri).map_err(|error| Failure::new(Kind::TheirError, error.to_string()))?;
    facts::compare_fragments(&fragments, &array).map_err(|detail| Failure::new(Kind::Fragments, detail))
}
