//! Classifies errors of the library.

use super::case::Case;
use super::defects;
use super::verdict::{End, Failure, Kind, Verdict};
use tdb_reference::Error;

/// Converts an error of the library to a verdict.
pub fn their_failure(case: &Case, question: Option<usize>, error: &Error) -> Verdict {
    match excuse(case, question, error) {
        Some(reason) => Verdict::Excused(reason),
        None => Verdict::Failed(as_failure(question, error)),
    }
}

/// Ends a question on which the library failed. A timeout also ends the case.
pub fn their_end(case: &Case, question: usize, error: &Error) -> End {
    match their_failure(case, Some(question), error) {
        Verdict::Excused(reason) if !has_no_end(error) => End::Excused(reason),
        verdict => verdict.into(),
    }
}

/// Returns why an error of the library is expected. Returns `None` if it is not expected.
pub fn excuse(case: &Case, question: Option<usize>, error: &Error) -> Option<String> {
    let asked = question.map(|index| &case.questions[index]);
    let known = defects::explanation(case, asked, &error.to_string()).map(str::to_owned);
    known.or_else(|| has_no_end(error).then(|| format!("{error} (timeout)")))
}

/// Shortens an error message of the library: drops names and numbers.
pub fn in_short(error: &Error, words: usize) -> String {
    let message = error.to_string();
    let is_word = |word: &&str| word.chars().all(|c| c.is_alphabetic() || ":;.,-[]()".contains(c));
    message.split(' ').filter(is_word).take(words).collect::<Vec<_>>().join(" ")
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
