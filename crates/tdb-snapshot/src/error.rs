//! Errors of reading and changing arrays and groups.

use std::convert::Infallible;

use tdb_cells::{Cancelled, CellProblem, CellsError, list_of_names};
use tdb_condition::ConditionError;
use tdb_filters::{FilterError, KeyProblem};
use tdb_fragment::FragmentError;
use tdb_generic_tile::GenericTileError;
use tdb_schema::SchemaError;
use tdb_storage::{Storage, StorageError};
use tdb_types::{DecodeError, ErrorCategory, UnsupportedVersion};

/// An error with the cause, the file, and often a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// The path does not exist.
    #[error("{path}: no such folder; check the path")]
    NotFound {
        /// The path as given.
        path: String,
    },
    /// The folder is not an array.
    #[error("{path}: not an array (no `__schema` folder and no `__array_schema.tdb` in it){hint}")]
    NotAnArray {
        /// The path as given.
        path: String,
        /// The kind of object found instead, or an empty string.
        hint: &'static str,
    },
    /// The target of a create operation already exists.
    #[error("{path}: {what} already exists; choose another path")]
    AlreadyThere {
        /// The path as given.
        path: String,
        /// The kind of existing object.
        what: &'static str,
    },
    /// The folder is not a group.
    #[error("{path}: not a group (no `__group` folder and no `__tiledb_group.tdb` in it){hint}")]
    NotAGroup {
        /// The path as given.
        path: String,
        /// The kind of object found instead, or an empty string.
        hint: &'static str,
    },
    /// A member of a group cannot be resolved.
    #[error("{group}: member {member:?}: {why}")]
    Member {
        /// The group.
        group: String,
        /// The member's name or URI.
        member: String,
        /// The reason, and a remedy.
        why: String,
    },
    /// The array has changed since it was opened, or contains a later timestamp than the intended
    /// change.
    #[error("{path}: {why}")]
    Outdated {
        /// The array.
        path: String,
        /// The conflict, and a remedy.
        why: &'static str,
    },
    /// A member cannot be added to a group, or removed from it.
    #[error("{group}: member {member:?}: {why}")]
    NewMember {
        /// The group.
        group: String,
        /// The member's name or URI.
        member: String,
        /// The reason, and a remedy.
        why: String,
    },
    /// The target of a new member does not exist, or a group lacks the member to be removed.
    #[error("{group}: member {member:?}: {why}")]
    NoMember {
        /// The group.
        group: String,
        /// The member's name or URI.
        member: String,
        /// The missing object.
        why: String,
    },
    /// The query names an unknown dimension label, or uses a label in an unsupported way.
    #[error("label {name:?}: {why}")]
    Label {
        /// The requested label.
        name: String,
        /// The problem.
        why: String,
    },
    /// A storage operation failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A schema or enumeration file is damaged or unsupported.
    #[error("{file}: {source}")]
    Schema {
        /// The file.
        file: String,
        /// The problem.
        source: SchemaError,
    },
    /// The definition of a new array or a schema change contradicts itself or the format.
    #[error("new schema: {0}")]
    NewSchema(#[from] SchemaError),
    /// The condition of a delete does not fit the array, or cannot be stored.
    #[error(transparent)]
    NewDelete(ConditionError),
    /// The condition of a query does not fit the array.
    #[error(transparent)]
    Filter(ConditionError),
    /// Fragment metadata is damaged or unsupported.
    #[error("{file}: {source}")]
    Fragment {
        /// The file.
        file: String,
        /// The problem.
        source: FragmentError,
    },
    /// A file with a list of commits, fragments or metadata files is damaged.
    #[error("{file}: {source}")]
    Commits {
        /// The file.
        file: String,
        /// The problem.
        source: DecodeError,
    },
    /// A generic tile is damaged or unsupported.
    #[error("{file}: {source}")]
    GenericTile {
        /// The file.
        file: String,
        /// The problem.
        source: GenericTileError,
    },
    /// A delete commit is damaged or unsupported.
    #[error("{file}: {source}")]
    Condition {
        /// The commit's file.
        file: String,
        /// The problem.
        source: ConditionError,
    },
    /// A tile of cells cannot be unfiltered.
    #[error("{file}: tile {tile} of field {field:?}: {source}")]
    Tile {
        /// The data file.
        file: String,
        /// The field.
        field: String,
        /// The tile's index in the fragment.
        tile: u64,
        /// The problem.
        source: Box<FilterError>,
    },
    /// New cells cannot pass the field's filters.
    #[error("field {field:?}: cannot apply the filters: {source}")]
    Filters {
        /// The field.
        field: String,
        /// The reason.
        source: Box<FilterError>,
    },
    /// The key does not match the array.
    #[error("{file}: {problem}")]
    Key {
        /// The first file tried with the key.
        file: String,
        /// The mismatch.
        problem: KeyProblem,
    },
    /// The array has encrypted and unencrypted files. All files can be opened neither with the key
    /// nor without a key.
    #[error(
        "{clear} is not encrypted, but {encrypted} is, so no key opens both files; another writer added \
         the unencrypted file, or release 2.30.0, which stores changed schemas of encrypted arrays unencrypted"
    )]
    PartlyEncrypted {
        /// The unencrypted file.
        clear: String,
        /// The encrypted file.
        encrypted: String,
    },
    /// Files contradict each other or the format.
    #[error("{file}: {what}")]
    Corrupt {
        /// The file.
        file: String,
        /// The problem.
        what: String,
    },
    /// The array is valid but uses an unsupported feature.
    #[error("{file}: {what}")]
    Unsupported {
        /// The file.
        file: String,
        /// The unsupported feature, and a remedy.
        what: String,
    },
    /// A fragment or file name has an unknown format version.
    #[error("{file}: {source}")]
    Version {
        /// The file or folder.
        file: String,
        /// The version.
        source: UnsupportedVersion,
    },
    /// The array has no enumeration of this name.
    #[error("unknown enumeration {name:?}; the array has {}", list_of_names(known))]
    UnknownEnumeration {
        /// The requested name.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// Cells, coordinates or columns do not fit the array or the requested operation.
    #[error(transparent)]
    Cells(#[from] CellsError),
    /// The query was cancelled through a [`Monitor`](tdb_cells::Monitor).
    #[error("cancelled")]
    Cancelled,
    /// The query is invalid, for example because its parts contradict each other.
    #[error("{0}")]
    Query(String),
    /// The field does not support the aggregate.
    #[error("{aggregate}: {why}")]
    Aggregate {
        /// The aggregate.
        aggregate: String,
        /// The reason.
        why: String,
    },
    /// No random bytes are available for names of new files or for encryption.
    #[error("cannot get random bytes: {why}")]
    Randomness {
        /// The message of the [source](crate::Randomness) of random bytes.
        why: String,
    },
    /// No time is available for names of new files, or for opening an array as of now.
    #[error("cannot get the time from the clock: {why}")]
    Clock {
        /// The message of the [clock](crate::Clock), or the problem with the time.
        why: String,
    },
    /// The array does not support this write.
    #[error("{0}")]
    Write(String),
}

impl From<Infallible> for ArrayError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl From<Cancelled> for ArrayError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl ArrayError {
    /// Returns the mismatch of key and file, if the error has this cause.
    ///
    /// If other files of the array matched the key, the file is damaged or foreign. The error is
    /// then corruption and not [`ArrayError::Key`], but this method still returns the mismatch.
    #[must_use]
    pub fn key_problem(&self) -> Option<KeyProblem> {
        match self {
            Self::Key { problem, .. } => Some(*problem),
            Self::Schema { source, .. } => source.key_problem(),
            Self::Fragment { source, .. } => source.key_problem(),
            Self::GenericTile { source, .. } => source.key_problem(),
            Self::Tile { source, .. } => source.key_problem(),
            _ => None,
        }
    }

    /// Converts an error of an unstorable value into an error of a cell. `cell` maps an index in
    /// the tile to a cell number.
    pub fn of_cell(self, cell: impl FnOnce(usize) -> Option<u64>) -> Self {
        let Self::Filters { field, source } = self else { return self };
        match *source {
            FilterError::OutOfRange { filter, index, value, expected } => {
                match usize::try_from(index).ok().and_then(cell) {
                    Some(cell) => {
                        let problem = CellProblem::Unstorable { filter, value, expected };
                        CellsError::Cell { field, cell, problem }.into()
                    }
                    None => {
                        let source = FilterError::OutOfRange { filter, index, value, expected };
                        Self::Filters { field, source: Box::new(source) }
                    }
                }
            }
            source => Self::Filters { field, source: Box::new(source) },
        }
    }

    /// Converts a mismatch of key and file into [`ArrayError::Key`]. Use for the first file tried
    /// with a key.
    #[must_use]
    pub fn into_key_error(self) -> Self {
        let problem = self.key_problem();
        match (self, problem) {
            (
                Self::Schema { file, .. }
                | Self::Fragment { file, .. }
                | Self::GenericTile { file, .. }
                | Self::Tile { file, .. },
                Some(problem),
            ) => Self::Key { file, problem },
            (error, _) => error,
        }
    }

    /// Converts a mismatch of key and file into [`ArrayError::PartlyEncrypted`]. Use for files read
    /// after the schema: the schema was readable with the key, or without one, so the key is not at
    /// fault.
    pub(crate) fn or_partly_encrypted(self) -> Self {
        let schema = || "the array's schema".to_owned();
        match (self.key_problem(), self) {
            (
                Some(KeyProblem::Missing),
                Self::Schema { file, .. } | Self::Fragment { file, .. } | Self::GenericTile { file, .. },
            ) => Self::PartlyEncrypted { clear: schema(), encrypted: file },
            (
                Some(KeyProblem::NotNeeded),
                Self::Schema { file, .. } | Self::Fragment { file, .. } | Self::GenericTile { file, .. },
            ) => Self::PartlyEncrypted { clear: file, encrypted: schema() },
            (_, error) => error,
        }
    }

    /// Replaces a path below the array's folder by the full path, in errors about a directory.
    pub(crate) fn located(mut self, storage: &dyn Storage) -> Self {
        if let Self::Version { file, .. } | Self::Commits { file, .. } | Self::Corrupt { file, .. } = &mut self {
            *file = storage.describe(file);
        }
        self
    }

    /// Returns the category of the error, which determines the reaction of the caller.
    #[must_use]
    pub fn category(&self) -> ErrorCategory {
        let by = |unsupported: bool| if unsupported { ErrorCategory::Unsupported } else { ErrorCategory::Corrupt };
        // Without the key no further diagnosis is possible.
        if self.key_problem() == Some(KeyProblem::Missing) {
            return ErrorCategory::Key;
        }
        match self {
            Self::NotFound { .. } | Self::NotAnArray { .. } | Self::NotAGroup { .. } | Self::NoMember { .. } => {
                ErrorCategory::Unavailable
            }
            Self::Storage(StorageError::OverLimit { .. } | StorageError::RangeOverLimit { .. }) => {
                ErrorCategory::Unsupported
            }
            // Paths below the array's folder contain names stated in files.
            Self::Storage(StorageError::UnexpectedEnd { .. } | StorageError::BadPath { .. }) => ErrorCategory::Corrupt,
            Self::Storage(_) | Self::Randomness { .. } | Self::Clock { .. } => ErrorCategory::Unavailable,
            Self::Schema { source, .. } => by(source.is_unsupported()),
            Self::Fragment { source, .. } => by(fragment_is_unsupported(source)),
            Self::Condition { source, .. } => by(source.is_unsupported()),
            Self::GenericTile { source, .. } => by(source.is_unsupported()),
            Self::Tile { source, .. } => by(source.is_unsupported()),
            Self::Filters { source, .. } if source.is_unsupported() => ErrorCategory::Unsupported,
            Self::Filters { .. } => ErrorCategory::Usage,
            Self::Corrupt { .. } | Self::Commits { .. } | Self::PartlyEncrypted { .. } => ErrorCategory::Corrupt,
            Self::Unsupported { .. } | Self::Version { .. } | Self::Member { .. } => ErrorCategory::Unsupported,
            Self::Key { .. } => ErrorCategory::Key,
            Self::Cells(error) => error.category(),
            Self::Cancelled => ErrorCategory::Cancelled,
            Self::UnknownEnumeration { .. }
            | Self::Label { .. }
            | Self::AlreadyThere { .. }
            | Self::NewMember { .. }
            | Self::Outdated { .. }
            | Self::NewSchema(_)
            | Self::NewDelete(_)
            | Self::Filter(_)
            | Self::Query(_)
            | Self::Aggregate { .. }
            | Self::Write(_) => ErrorCategory::Usage,
        }
    }
}

fn fragment_is_unsupported(error: &FragmentError) -> bool {
    match error {
        FragmentError::Decode(error) => error.is_unsupported(),
        FragmentError::Section { source, .. } | FragmentError::File { source, .. } => source.is_unsupported(),
        _ => false,
    }
}
