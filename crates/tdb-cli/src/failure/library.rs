//! From the library's errors to ours.

use tdb_array::{ArrayError, ErrorCategory};

use super::{Exit, Failure};
use crate::suggest;

impl From<ArrayError> for Failure {
    fn from(error: ArrayError) -> Self {
        let exit = match error.category() {
            ErrorCategory::Usage => Exit::Usage,
            ErrorCategory::Corrupt => Exit::Corrupt,
            ErrorCategory::Unsupported => Exit::Unsupported,
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
            (_, Exit::Corrupt) => failure.with_hint("`tdb inspect FILE` shows how much of a file can be read"),
            _ => failure,
        }
    }
}
