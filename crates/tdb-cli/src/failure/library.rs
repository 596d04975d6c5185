//! From the library's errors to ours.

use tdb_array::{ArrayError, ErrorCategory};
use tdb_filters::KeyProblem;

use super::{Exit, Failure};
use crate::{key, suggest};

impl From<ArrayError> for Failure {
    fn from(error: ArrayError) -> Self {
        let exit = match error.category() {
            ErrorCategory::Usage => Exit::Usage,
            ErrorCategory::Corrupt => Exit::Corrupt,
            ErrorCategory::Unsupported => Exit::Unsupported,
            ErrorCategory::Key => Exit::Key,
            ErrorCategory::Unavailable => Exit::Unavailable,
        };
        let failure = Self::new(exit, &error);
        match (&error, exit) {
            (ArrayError::UnknownField { name, known } | ArrayError::UnknownDimension { name, known }, _) => {
                match suggest::nearest(name, known.iter().map(String::as_str)) {
                    Some(near) => failure.with_hint(format!("did you mean {near:?}?")),
                    None => failure,
                }
            }
            (ArrayError::Key { problem: KeyProblem::Missing, .. }, _) => failure.with_hint(key::missing_hint()),
            (ArrayError::Key { problem: KeyProblem::NotNeeded, .. }, _) => failure.with_hint(key::not_needed_hint()),
            (_, Exit::Corrupt) => failure.with_hint("`tdb inspect FILE` shows how much of a file can be read"),
            _ => failure,
        }
    }
}
