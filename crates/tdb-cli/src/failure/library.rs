//! Conversion of library errors to failures.

use std::path::Path;

use tdb_array::{ArrayError, CellsError, ErrorCategory};
use tdb_exchange::Error as ExchangeError;
use tdb_filters::KeyProblem;
use tdb_job::MaintainError;
use tdb_maintain::Refusal;
use tdb_migrate::{Obstacle, is_migration_interrupted};
use tdb_print::NullError;
use tdb_relocate::PlaceProblem;
use tdb_schema_text::SchemaTextError;
use tdb_storage::StorageError;
use tdb_types::names::{COMMITS_FOLDER, FRAGMENT_META_FOLDER, FRAGMENT_METADATA};

use super::{Exit, Failure};
use crate::suggest;

/// The environment variable with the key as 64 hexadecimal digits.
pub(crate) const KEY_VARIABLE: &str = "TDB_KEY";
/// The environment variable with the path of a key file.
pub(crate) const FILE_VARIABLE: &str = "TDB_KEY_FILE";

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
            // `Unavailable`, and categories of newer versions of the library.
            _ => Self::Unavailable,
        }
    }
}

impl From<ExchangeError> for Failure {
    fn from(error: ExchangeError) -> Self {
        let error = match error {
            ExchangeError::Array(error) => return error.into(),
            ExchangeError::Io { name, source } => return Self::io(name, &source),
            ExchangeError::Columns(error) => match error.downcast() {
                Ok(failure) => return *failure,
                Err(error) => ExchangeError::Columns(error),
            },
            other => other,
        };
        let exit = if error.is_of_rows() { Exit::Finding } else { error.category().into() };
        let failure = match &error {
            ExchangeError::NoSuchColumn { column, is_typed: true, .. } => {
                Self::new(exit, format!("--type {column}: {error}"))
            }
            error => Self::new(exit, error),
        };
        failure.hinted(exchange_hint(&error).or_else(|| error.hint()))
    }
}

/// Carries a failure unchanged through the import of its columns.
impl From<Failure> for ExchangeError {
    fn from(failure: Failure) -> Self {
        Self::Columns(Box::new(failure))
    }
}

/// Returns the hint with the option that resolves the error.
fn exchange_hint(error: &ExchangeError) -> Option<String> {
    Some(match error {
        ExchangeError::RangeWithoutName { example, .. } => format!("write for example --range {example}=FIRST..LAST"),
        ExchangeError::NoDimensions { columns } => {
            format!("pass some of the columns {} with --dimensions, or a schema with --schema", columns.join(", "))
        }
        ExchangeError::NoRows | ExchangeError::NoType { .. } | ExchangeError::Schema(_) => "pass a schema with --schema".to_owned(),
        ExchangeError::NoField { fields, .. } => {
            format!("the fields are {}; pass --ignore-others to ignore other columns", fields.join(", "))
        }
        ExchangeError::Rejected { .. } => "correct the rows, or pass --skip-rejects to skip them".to_owned(),
        ExchangeError::Repeated { is_dense: true, .. } => "pass --keep-last to import the last row of each cell".to_owned(),
        ExchangeError::Repeated { is_dense: false, .. } => {
            "pass --keep-last to import the last row of each cell, or --allow-duplicates to create an array with duplicates"
                .to_owned()
        }
        _ => return None,
    })
}

impl From<MaintainError> for Failure {
    fn from(error: MaintainError) -> Self {
        match error {
            MaintainError::Array(error) => error.into(),
            MaintainError::Storage(error) => ArrayError::Storage(error).into(),
            error => {
                let failure = Self::new(error.category().into(), &error);
                let interrupted = match &error {
                    MaintainError::Place { path, .. } => interrupted_migration(Path::new(path)),
                    _ => None,
                };
                failure.hinted(interrupted.or_else(|| maintenance_hint(&error).map(str::to_owned)))
            }
        }
    }
}

/// Returns `true` if the lock is in the folder of an unfinished copy.
fn is_of_copy(lock: &str) -> bool {
    let folder = Path::new(lock).parent().and_then(Path::file_name).and_then(|name| name.to_str());
    folder.is_some_and(|name| name.starts_with(".tdb-copy-") && name.ends_with(".tmp"))
}

/// Returns the hint with the option or command that resolves the error.
fn maintenance_hint(error: &MaintainError) -> Option<&'static str> {
    Some(match error {
        MaintainError::Busy { path, .. } if is_of_copy(path) => {
            "if no other process copies to this path, remove the folder of the lock"
        }
        MaintainError::Busy { .. } => {
            "if the owner has certainly ended, run `tdb doctor PATH --fix --only .tdb-maintain.tmp`; or pass --take-over to `tdb consolidate` or `tdb vacuum`"
        }
        MaintainError::Unsettled { .. } => "run `tdb vacuum` with write access to the array",
        MaintainError::Place { why: PlaceProblem::Quarantined, .. } => {
            "run `tdb doctor PATH --undo` to move the files back, or pass --with-quarantine to remove them, too"
        }
        MaintainError::Refused { why, .. } => refusal_hint(why)?,
        MaintainError::CannotMigrate { against, .. } if against.iter().any(is_of_history) => {
            "pass --flatten to drop the history and its obstacles"
        }
        _ => return None,
    })
}

fn refusal_hint(why: &Refusal) -> Option<&'static str> {
    Some(match why {
        Refusal::Between { .. } | Refusal::SameTime { .. } | Refusal::CoversOlder { .. } => {
            "leave out --fragments, --at and --between to consolidate all fragments"
        }
        Refusal::Uncovers { .. } => "leave out --purge-deleted to keep deleted cells",
        Refusal::DroppedAttributes { .. } => "pass --flatten-history to drop this history",
        Refusal::Amplification { .. } => "pass a larger --amplification FACTOR",
        Refusal::SizeRatio { .. } => "pass a smaller --size-ratio RATIO, or leave it out",
        Refusal::NoSuchFragment { .. } => "run `tdb fragments` for a list of fragments",
        _ => return None,
    })
}

/// Returns `true` if a migration without history avoids the obstacle.
fn is_of_history(obstacle: &Obstacle) -> bool {
    matches!(
        obstacle,
        Obstacle::Schemas(_)
            | Obstacle::Deletes(_)
            | Obstacle::CellTimes { .. }
            | Obstacle::Range(_)
            | Obstacle::Between(_)
            | Obstacle::SparseInDense(_)
    )
}

impl From<NullError> for Failure {
    fn from(error: NullError) -> Self {
        Self::usage(error).with_hint("leave out the option null, or choose CSV")
    }
}

impl From<CellsError> for Failure {
    fn from(error: CellsError) -> Self {
        ArrayError::from(error).into()
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
                ArrayError::Cells(
                    CellsError::UnknownField { name, known } | CellsError::UnknownDimension { name, known },
                )
                | ArrayError::UnknownEnumeration { name, known },
                _,
            ) => {
                let near = suggest::nearest(name, known.iter().map(String::as_str));
                failure.hinted(near.map(|near| format!("did you mean {near:?}?")))
            }
            (error, _) if error.key_problem() == Some(KeyProblem::Missing) => failure.with_hint(missing_key_hint()),
            (ArrayError::Key { problem: KeyProblem::NotNeeded, .. }, _) => failure.with_hint(unneeded_key_hint()),
            (error, _) if error.key_problem() == Some(KeyProblem::NotNeeded) => failure.with_hint(
                "other files of the array are encrypted, but this file is not: it was added without the key",
            ),
            (ArrayError::Storage(StorageError::NotFound { path }), _) => match interrupted_migration(Path::new(path)) {
                Some(interrupted) => failure.with_hint(interrupted),
                None if is_of_array(path) => failure.with_hint(missing_file_hint(path)),
                None => failure,
            },
            (_, Exit::Corrupt) => failure.with_hint("run `tdb inspect FILE` to see how much of a file is readable"),
            _ => failure,
        }
    }
}

/// Returns `true` if the path contains a name of the array format. All of these names begin with
/// `__`.
fn is_of_array(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| part.starts_with("__"))
}

/// Returns the hint for a missing file that the array refers to.
fn missing_file_hint(path: &str) -> &'static str {
    let mut parts = path.rsplit(['/', '\\']);
    let (file, folder) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if file == FRAGMENT_METADATA || folder == COMMITS_FOLDER || folder == FRAGMENT_META_FOLDER {
        "run the command again, if the array was vacuumed in the meantime; otherwise this copy is incomplete, and --skip-damaged reads the rest"
    } else {
        "run the command again, if the array was vacuumed in the meantime; otherwise this copy is incomplete"
    }
}

/// Returns the hint for a missing key.
fn missing_key_hint() -> String {
    format!("pass `--key-file FILE`, or set {KEY_VARIABLE} or {FILE_VARIABLE}")
}

/// Returns the hint for a key of an unencrypted array.
fn unneeded_key_hint() -> String {
    format!("leave out `--key-file`, and unset {KEY_VARIABLE} and {FILE_VARIABLE}")
}

/// Returns the hint for a missing path if a migration in place was interrupted between its two
/// renames. Returns `None` otherwise.
pub(crate) fn interrupted_migration(missing: &Path) -> Option<String> {
    let is_it = !missing.exists() && is_migration_interrupted(missing);
    is_it.then(|| {
        format!(
            "a migration was interrupted here: run `tdb migrate {}` to complete it or roll it back",
            missing.display()
        )
    })
}
