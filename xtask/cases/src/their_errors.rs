//! Classifies errors of the library.

use super::case::Case;
use super::defects;
use super::verdict::{Failure, Kind, Verdict};
use tdb_reference::Error;

/// Converts an error of the library to a verdict.
pub fn their_failure(case: &Case, question: Option<usize>, error: &Error) -> Verdict {
    match excuse(case, question, error) {
        Some(reason) => Verdict::Excused(reason),
        None => Verdict::Failed(as_failure(question, error)),
    }
}

/// Returns why an error of the library is expected. Returns `None` if it is not expected.
pub fn excuse(case: &Case, question: Option<usize>, error: &Error) -> Option<String> {
    let asked = question.map(|index| &case.questions[index]);
    let known = defects::explanation(case, asked, &error.to_string()).map(str::to_owned);
    known.or_else(|| has_no_end(error).then(|| format!("{error} (timeout)")))
}

/// `true` if the library timed out. Other reads of the array may time out too.
pub fn has_no_end(error: &Error) -> bool {
    matches!(error, Error::TimedOut { .. })
}

/// Converts an unexpected error of the library to a failure.
pub fn as_failure(question: Option<usize>, error: &Error) -> Failure {
    let kind = if matches!(error, Error::Library(_)) { Kind::TheirError } else { Kind::TheirCrash };
    Failure { question, ..Failure::new(kind, error.to_string()) }
}
