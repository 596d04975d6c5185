//! What can go wrong with an array.

use tdb_cells::{Cancelled, CellProblem, CellsError, list_of_names};
use tdb_condition::ConditionError;
use tdb_filters::{FilterError, KeyProblem};
use tdb_fragment::FragmentError;
use tdb_generic_tile::GenericTileError;
use tdb_schema::SchemaError;
use tdb_storage::{Storage, StorageError};
use tdb_types::{DecodeError, ErrorCategory, UnsupportedVersion};

/// An error of this crate: what went wrong, in which file, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// There is nothing at the path.
    #[error("{path}: no such folder; check the path")]
    NotFound {
        /// The path as given.
        path: String,
    },
    /// The folder holds something else.
    #[error("{path}: not an array (no `__schema` folder and no `__array_schema.tdb` in it){hint}")]
    NotAnArray {
        /// The path as given.
        path: String,
        /// What it seems to be instead, or nothing.
        hint: &'static str,
    },
    /// Something is to be made where there is something already.
    #[error("{path}: {what} is there already, and is never overwritten; choose another path")]
    AlreadyThere {
        /// The path as given.
        path: String,
        /// What is there.
        what: &'static str,
    },
    /// The folder holds no group.
    #[error("{path}: not a group (no `__group` folder and no `__tiledb_group.tdb` in it){hint}")]
    NotAGroup {
        /// The path as given.
        path: String,
        /// What it seems to be instead, or nothing.
        hint: &'static str,
    },
    /// A member of a group can't be followed.
    #[error("{group}: member {member:?}: {why}")]
    Member {
        /// The group.
        group: String,
        /// The member's name or URI.
        member: String,
        /// Why, and what to do.
        why: String,
    },
    /// The array has been changed since, or is dated later than a change that was to be made.
    #[error("{path}: {why}")]
    Outdated {
        /// The array.
        path: String,
        /// What stands in the way, and what to do.
        why: &'static str,
    },
    /// A member can't be added to a group, or removed from it.
    #[error("{group}: member {member:?}: {why}")]
    NewMember {
        /// The group.
        group: String,
        /// The member's name or URI.
        member: String,
        /// Why not, and what to do.
        why: String,
    },
    /// Nothing is where a member to be added should be, or a group has no member that is to be removed.
    #[error("{group}: member {member:?}: {why}")]
    NoMember {
        /// The group.
        group: String,
        /// The member's name or URI.
        member: String,
        /// What isn't there.
        why: String,
    },
    /// The query names a dimension label that the array doesn't have, or that can't be used so.
    #[error("label {name:?}: {why}")]
    Label {
        /// The label asked for.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// Reading failed below the format.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A schema or enumeration file is damaged or beyond this library.
    #[error("{file}: {source}")]
    Schema {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: SchemaError,
    },
    /// What an array is to be made from, or changed to, contradicts itself or the format.
    #[error("the new schema: {0}")]
    NewSchema(#[from] SchemaError),
    /// The condition of a delete doesn't fit the array, or can't be stored.
    #[error(transparent)]
    NewDelete(ConditionError),
    /// The condition of a query doesn't fit the array.
    #[error(transparent)]
    Filter(ConditionError),
    /// Fragment metadata is damaged or beyond this library.
    #[error("{file}: {source}")]
    Fragment {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: FragmentError,
    },
    /// A file that lists commits is damaged.
    #[error("{file}: {source}")]
    Commits {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: DecodeError,
    },
    /// A generic tile is damaged or beyond this library.
    #[error("{file}: {source}")]
    GenericTile {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: GenericTileError,
    },
    /// A delete commit is damaged or beyond this library.
    #[error("{file}: {source}")]
    Condition {
        /// The commit's file.
        file: String,
        /// What is wrong with it.
        source: ConditionError,
    },
    /// A tile of cells can't be unfiltered.
    #[error("{file}: tile {tile} of field {field:?}: {source}")]
    Tile {
        /// The data file.
        file: String,
        /// The field.
        field: String,
        /// The tile's index in the fragment.
        tile: u64,
        /// What is wrong with it.
        source: Box<FilterError>,
    },
    /// Cells to be written don't go through the field's filters.
    #[error("field {field:?} can't be filtered: {source}")]
    Filters {
        /// The field.
        field: String,
        /// Why not.
        source: Box<FilterError>,
    },
    /// The key and the array don't go together.
    #[error("{file}: {problem}")]
    Key {
        /// The first file that it was tried on.
        file: String,
        /// What is the matter.
        problem: KeyProblem,
    },
    /// Some files of the array are encrypted and some are not, so that neither a key nor the lack of one opens all.
    #[error(
        "{clear} is not encrypted, but {encrypted} is: with a key or without, one of them can't be read. Somebody without the \
         key has put the one there, or release 2.30.0 has, which stores changed schemas of encrypted arrays in clear"
    )]
    PartlyEncrypted {
        /// What is not.
        clear: String,
        /// What is.
        encrypted: String,
    },
    /// Files contradict each other or the format.
    #[error("{file}: {what}")]
    Corrupt {
        /// The file.
        file: String,
        /// What is wrong with it.
        what: String,
    },
    /// The array is sound but beyond this library.
    #[error("{file}: {what}")]
    Unsupported {
        /// The file.
        file: String,
        /// What is not supported, and what to do.
        what: String,
    },
    /// A fragment or file name states a format version that this library doesn't know.
    #[error("{file}: {source}")]
    Version {
        /// The file or folder.
        file: String,
        /// The version.
        source: UnsupportedVersion,
    },
    /// The array has no enumeration of this name.
    #[error("no enumeration {name:?}; the array has {}", list_of_names(known))]
    UnknownEnumeration {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// Cells, coordinates or columns don't fit the array, or what was asked of them.
    #[error(transparent)]
    Cells(#[from] CellsError),
    /// The query was cancelled, by its [`Monitor`](tdb_cells::Monitor).
    #[error("cancelled")]
    Cancelled,
    /// The parts of the query don't go together.
    #[error("{0}")]
    Query(String),
    /// A field has no such aggregate.
    #[error("{aggregate}: {why}")]
    Aggregate {
        /// The aggregate.
        aggregate: String,
        /// Why there is none.
        why: String,
    },
    /// There are no random bytes, which names of new files and encryption need.
    #[error("no random bytes: {why}")]
    Randomness {
        /// What their [source](crate::Randomness) says.
        why: String,
    },
    /// There is no time, which names of new files need, and opening as of now.
    #[error("no time from the clock: {why}")]
    Clock {
        /// What the [clock](crate::Clock) says, or what is wrong with it.
        why: String,
    },
    /// The array can't be written to like this.
    #[error("{0}")]
    Write(String),
}

impl From<Cancelled> for ArrayError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl ArrayError {
    /// What is the matter with the key, if that is the trouble.
    ///
    /// A file that doesn't go together with the key when others of the array did is damaged, or was put there by somebody
    /// else: that is corruption, and no [`ArrayError::Key`]; but this finds it too.
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

    /// The same error of a cell, if it is one of a value that the filters can't store: `cell` gives its number from that in the tile.
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

    /// The same error as one of the key, if it is the key that doesn't fit: for the first file that a key is tried on.
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

    /// The same error of a file that isn't the first: where the array's schema was read with the key, or without, and this one
    /// wants none, or one, it is not the key that is wrong.
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

    /// The error with the whole path of its file, if what gave it knows only the path below the array's folder.
    pub(crate) fn located(mut self, storage: &dyn Storage) -> Self {
        if let Self::Version { file, .. } | Self::Commits { file, .. } | Self::Corrupt { file, .. } = &mut self {
            *file = storage.describe(file);
        }
        self
    }

    /// What a caller may do about it.
    #[must_use]
    pub fn category(&self) -> ErrorCategory {
        let by = |unsupported: bool| if unsupported { ErrorCategory::Unsupported } else { ErrorCategory::Corrupt };
        // Whatever else may be wrong, without the key nothing more is known.
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
            // Paths below the array's folder are made of names that its files state.
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
