//! From the library's errors to ours.

use std::path::Path;

use tdb_array::{ArrayError, ErrorCategory};
use tdb_filters::KeyProblem;
use tdb_maintain::MaintainError;
use tdb_schema_text::SchemaTextError;
use tdb_storage::StorageError;
use tdb_types::names::{COMMITS_FOLDER, FRAGMENT_META_FOLDER, FRAGMENT_METADATA};

use super::{Exit, Failure};
use crate::{key, suggest, target};

impl From<SchemaTextError> for Failure {
    fn from(error: SchemaTextError) -> Self {
        Self::usage(error)
    }
}

impl From<ErrorCategory> for Exit {
    fn from(category: ErrorCategory) -> Self {
        match category {
            ErrorCategory::Usage => Self::Usage,
            ErrorCategory::Corrupt => Self::Corrupt,
            ErrorCategory::Unsupported => Self::Unsupported,
            ErrorCategory::Key => Self::Key,
            ErrorCategory::Cancelled => Self::Interrupted,
            // Unavailable, and the categories of newer libraries.
            _ => Self::Unavailable,
        }
    }
}

impl From<MaintainError> for Failure {
    fn from(error: MaintainError) -> Self {
        match error {
            MaintainError::Array(error) => error.into(),
            MaintainError::Storage(error) => ArrayError::Storage(error).into(),
            error => {
                let failure = Self::new(error.category().into(), &error);
                match &error {
                    MaintainError::Place { path, .. } => match target::interrupted(Path::new(path)) {
                        Some(hint) => failure.with_hint(hint),
                        None => failure,
                    },
                    _ => failure,
                }
            }
        }
    }
}

impl From<ArrayError> for Failure {
    fn from(error: ArrayError) -> Self {
        let exit = match error.category() {
            ErrorCategory::Cancelled => return Self::interrupted(),
            category => Exit::from(category),
        };
        let failure = Self::new(exit, &error);
        match (&error, exit) {
            (
                ArrayError::UnknownField { name, known }
                | ArrayError::UnknownEnumeration { name, known }
                | ArrayError::UnknownDimension { name, known },
                _,
            ) => match suggest::nearest(name, known.iter().map(String::as_str)) {
                Some(near) => failure.with_hint(format!("did you mean {near:?}?")),
                None => failure,
            },
            (error, _) if error.key_problem() == Some(KeyProblem::Missing) => failure.with_hint(key::missing_hint()),
            (ArrayError::Key { problem: KeyProblem::NotNeeded, .. }, _) => failure.with_hint(key::not_needed_hint()),
            (error, _) if error.key_problem() == Some(KeyProblem::NotNeeded) => failure.with_hint(
                "other files of the array are encrypted, and this one isn't: somebody without the key has put it there",
            ),
            (ArrayError::Storage(StorageError::NotFound { path }), _) => {
                let interrupted = target::interrupted(Path::new(path));
                failure.with_hint(interrupted.unwrap_or_else(|| missing_file_hint(path).to_owned()))
            }
            (_, Exit::Corrupt) => failure.with_hint("`tdb inspect FILE` shows how much of a file can be read"),
            _ => failure,
        }
    }
}

/// What may be done about a file that the array names and that isn't there.
fn missing_file_hint(path: &str) -> &'static str {
    let mut parts = path.rsplit(['/', '\\']);
    let (file, folder) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if file == FRAGMENT_METADATA || folder == COMMITS_FOLDER || folder == FRAGMENT_META_FOLDER {
        "the array names it, so this copy of the array may be incomplete; --skip-damaged reads the rest"
    } else {
        "the array names it, so this copy of the array may be incomplete"
    }
}
