//! The errors of jobs.

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

/// An error of a job on an array or group.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MaintainError {
    /// Reading or writing the array failed.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// Writing a schema as text failed.
    #[error(transparent)]
    Schema(#[from] tdb_schema_text::SchemaTextError),
    /// The text of a schema is invalid.
    #[error("cannot parse the schema text: {0}")]
    Text(String),
    /// Reading, writing, listing or deleting a file failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The array's format version does not support files of this kind.
    #[error("{path}: format version {version} has no {what}: expected version {since} or later")]
    NotInFormat {
        /// Path of the array.
        path: String,
        /// Kind of requested file.
        what: &'static str,
        /// Format version of the array.
        version: FormatVersion,
        /// First format version with such files.
        since: u32,
    },
    /// The requested file stores absolute URIs, and the storage has no URIs.
    #[error("{path}: cannot write {what}, which stores absolute URIs: expected a storage in a local folder")]
    NoUri {
        /// Path of the array or group.
        path: String,
        /// Kind of requested file.
        what: &'static str,
    },
    /// A consolidation would change the order of metadata files, because another file was written
    /// between the files to consolidate.
    #[error(
        "{file}: written between the files to consolidate, but reaches outside the time range, which would change the result; choose a range that contains all or no part of the file"
    )]
    Between {
        /// Path of the other file.
        file: String,
    },
    /// A text is not a manifest.
    #[error("line {line}: invalid manifest line: expected a SHA-256 of 64 hexadecimal digits, two spaces and a path")]
    Manifest {
        /// Line number, counted from 1.
        line: usize,
    },
    /// Another job holds the lock of the array.
    #[error("{path}: locked by {who}; wait for it to finish, or take over the lock if it has crashed")]
    Busy {
        /// Path of the lock.
        path: String,
        /// Owner of the lock.
        who: String,
    },
    /// A file or folder has the name of the lock but is not a lock. No job can run until it is
    /// moved.
    #[error("{path}: {what} has the name of a maintenance lock but is not a lock of this library; move it elsewhere")]
    NotALock {
        /// Path of the array's lock.
        path: String,
        /// Description of the file or folder.
        what: String,
    },
    /// Another process changed the array in a conflicting way. The job had no effect.
    #[error("{path}: {what}; nothing was changed, try again")]
    Conflict {
        /// Path of the array.
        path: String,
        /// Description of the change.
        what: String,
    },
    /// A consolidation of fragments was interrupted and can be neither completed nor rolled back.
    /// Cells may be counted twice.
    #[error(
        "{path}: cannot complete or roll back an interrupted consolidation of fragments, and cells may be counted twice: {why}"
    )]
    Unsettled {
        /// Path of the journal.
        path: String,
        /// Reason.
        why: String,
    },
    /// A path cannot be copied, moved or removed as requested.
    #[error("{path}: {why}")]
    Place {
        /// The path.
        path: String,
        /// Reason.
        why: PlaceProblem,
    },
    /// The metadata of a fragment cannot be rebuilt.
    #[error("{path}: {why}")]
    Rebuild {
        /// Path of the fragment.
        path: String,
        /// Reason.
        why: RebuildProblem,
    },
    /// The array cannot be migrated as requested.
    #[error("{path}: cannot migrate to format version {version}: {}", listed(against))]
    CannotMigrate {
        /// Path of the array.
        path: String,
        /// Requested format version.
        version: FormatVersion,
        /// All obstacles.
        against: Vec<Obstacle>,
    },
    /// Some arrays of a group cannot be migrated as requested. No file was written.
    #[error("{path}: cannot migrate the group: {}", all_of(against))]
    CannotMigrateMembers {
        /// Path of the group.
        path: String,
        /// One error per array.
        against: Vec<MaintainError>,
    },
    /// A folder cannot be created, renamed or deleted.
    #[error("{path}: {why}")]
    Folder {
        /// Path of the folder, or of a file next to it.
        path: String,
        /// Reason.
        why: String,
    },
    /// The request is not possible, or would lose data.
    #[error("{path}: {why}")]
    Refused {
        /// Path of the array.
        path: String,
        /// Reason.
        why: Refusal,
    },
}

impl From<CellsError> for MaintainError {
    fn from(error: CellsError) -> Self {
        Self::Array(error.into())
    }
}

impl MaintainError {
    /// Returns the category of the error, for callers that decide how to react.
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

/// The result of a job.
pub type Result<T, E = MaintainError> = std::result::Result<T, E>;
