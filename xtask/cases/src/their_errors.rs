//! What errors of the library mean for a case.

use super::case::Case;
use super::defects;
use super::verdict::{Failure, Kind, Verdict};
use tdb_reference::Error;

/// What to make of an error of the library.
pub fn their_failure(case: &Case, question: Option<usize>, error: &Error) -> Verdict {
    match excuse(case, question, error) {
        Some(reason) => Verdict::Excused(reason),
        None => Verdict::Failed(as_failure(question, error)),
    }
}

/// Why an error of the library is no surprise; `None` if it is one.
pub fn excuse(case: &Case, question: Option<usize>, error: &Error) -> Option<String> {
    let asked = question.map(|index| &case.questions[index]);
    let known = defects::explanation(case, asked, &error.to_string()).map(str::to_owned);
    known.or_else(|| has_no_end(error).then(|| format!("{error}, without having come to an end")))
}

/// Whether the library was given up; what else it would be asked about the array may take as long.
pub fn has_no_end(error: &Error) -> bool {
    matches!(error, Error::TimedOut { .. })
}

/// An unexpected error of the library.
pub fn as_failure(question: Option<usize>, error: &Error) -> Failure {
    let kind = if matches!(error, Error::Library(_)) { Kind::TheirError } else { Kind::TheirCrash };
    Failure { question, ..Failure::new(kind, error.to_string()) }
}
