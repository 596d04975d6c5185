//! What can go wrong.

mod obstacle;
mod place_problem;
mod rebuild_problem;
mod refusal;

use tdb_array::{ArrayError, CellsError, ErrorCategory};
use tdb_storage::StorageError;
use tdb_types::FormatVersion;

pub use obstacle::Obstacle;
pub use place_problem::PlaceProblem;
pub use rebuild_problem::RebuildProblem;
pub use refusal::Refusal;

fn listed(against: &[Obstacle]) -> String {
    against.iter().map(Obstacle::to_string).collect::<Vec<_>>().join("; ")
}

fn all_of(errors: &[MaintainError]) -> String {
    errors.iter().map(MaintainError::to_string).collect::<Vec<_>>().join("; ")
}

/// Why an array can't be maintained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MaintainError {
    /// The array can't be read or written.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// A schema can't be written as text.
    #[error(transparent)]
    Schema(#[from] tdb_schema_text::SchemaTextError),
    /// The text of a schema isn't what it should be.
    #[error("the text of a schema: {0}")]
    Text(String),
    /// A file can't be read, written, listed or removed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The array's format has no such files.
    #[error("{path}: arrays of format {version} have no files of {what}; those of format {since} and later do")]
    NotInFormat {
        /// The array.
        path: String,
        /// What was wanted.
        what: &'static str,
        /// The array's format.
        version: FormatVersion,
        /// The first format that has them.
        since: u32,
    },
    /// The format names other files by absolute URIs, and this storage has none.
    #[error(
        "{path}: files of {what} name others by absolute URIs here, and the storage has none; it is no folder of this machine"
    )]
    NoUri {
        /// The array or group.
        path: String,
        /// What was wanted.
        what: &'static str,
    },
    /// Joined files would change places with one that lies between them.
    #[error(
        "{file}: it was written between files that were to be joined, but reaches out of the range of time, so that the \
         outcome would change; choose a range that holds all of it or nothing"
    )]
    Between {
        /// The file that lies between.
        file: String,
    },
    /// A text isn't a manifest.
    #[error("line {line} isn't one of a manifest: a SHA-256 in 64 hexadecimal digits, two spaces, a path")]
    Manifest {
        /// The number of the line, from 1 on.
        line: usize,
    },
    /// Somebody else maintains the array.
    #[error("{path}: {who} maintains this array; wait until that has ended, or take over if it is certain that it has")]
    Busy {
        /// The file that says so.
        path: String,
        /// Who it is.
        who: String,
    },
    /// Something that is no lock has the name of one, so that nobody can maintain the array or group.
    #[error(
        "{path}: {what} has the name of a lock of maintenance, but nobody of this library has made it; move it elsewhere"
    )]
    NotALock {
        /// Its path.
        path: String,
        /// What it is.
        what: String,
    },
    /// The array was changed meanwhile in a way that matters. Nothing was done.
    #[error("{path}: {what}; nothing was changed, try again")]
    Conflict {
        /// The array.
        path: String,
        /// What was changed.
        what: String,
    },
    /// Fragments were being joined when that was interrupted, and it can't be finished or undone now: cells may count twice.
    #[error(
        "{path}: joining fragments was interrupted, so that cells may be there twice, and that can't be finished or undone: {why}"
    )]
    Unsettled {
        /// The journal that says what was about to be done.
        path: String,
        /// Why not.
        why: String,
    },
    /// Something can't be copied, moved or removed as asked.
    #[error("{path}: {why}")]
    Place {
        /// The place.
        path: String,
        /// Why.
        why: PlaceProblem,
    },
    /// The metadata of a fragment can't be rebuilt.
    #[error("{path}: {why}")]
    Rebuild {
        /// The fragment.
        path: String,
        /// Why.
        why: RebuildProblem,
    },
    /// The array can't be rewritten as it is wanted.
    #[error("{path} can't be rewritten in format {version}: {}", listed(against))]
    CannotMigrate {
        /// The array.
        path: String,
        /// The format that was wanted.
        version: FormatVersion,
        /// All that stands against it.
        against: Vec<Obstacle>,
    },
    /// Arrays of a group can't be rewritten as it is wanted. Nothing was written.
    #[error("{path} can't be migrated: {}", all_of(against))]
    CannotMigrateMembers {
        /// The group.
        path: String,
        /// What stands against it, by arrays.
        against: Vec<MaintainError>,
    },
    /// A folder can't be made, renamed or removed.
    #[error("{path}: {why}")]
    Folder {
        /// The folder, or a file beside it.
        path: String,
        /// Why not.
        why: String,
    },
    /// What was asked for would lose something, or can't be done.
    #[error("{path}: {why}")]
    Refused {
        /// The array.
        path: String,
        /// Why.
        why: Refusal,
    },
}

impl From<CellsError> for MaintainError {
    fn from(error: CellsError) -> Self {
        Self::Array(error.into())
    }
}

impl MaintainError {
    /// What a caller may do about it.
    #[must_use]
    pub fn category(&self) -> ErrorCategory {
        match self {
            Self::Array(error) => error.category(),
            Self::Storage(error) => ArrayError::Storage(error.clone()).category(),
            Self::Place { why, .. } => why.category(),
            Self::Rebuild { why, .. } => why.category(),
            Self::Schema(_) | Self::Text(_) => ErrorCategory::Corrupt,
            Self::NotInFormat { .. }
            | Self::NoUri { .. }
            | Self::CannotMigrate { .. }
            | Self::CannotMigrateMembers { .. } => ErrorCategory::Unsupported,
            Self::Between { .. } | Self::Manifest { .. } | Self::Refused { .. } => ErrorCategory::Usage,
            Self::Busy { .. }
            | Self::NotALock { .. }
            | Self::Conflict { .. }
            | Self::Unsettled { .. }
            | Self::Folder { .. } => ErrorCategory::Unavailable,
        }
    }
}

/// The result of something that may fail so.
pub type Result<T, E = MaintainError> = std::result::Result<T, E>;
