//! What can go wrong.

use tdb_array::ArrayError;
use tdb_storage::StorageError;

use crate::Refusal;

/// Why an array can't be maintained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MaintainError {
    /// The array can't be read or written.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// A file can't be read, written, listed or removed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Somebody else maintains the array.
    #[error("{path}: {who} maintains this array; wait until that has ended")]
    Busy {
        /// The file that says so.
        path: String,
        /// Who it is.
        who: String,
    },
    /// The array was changed meanwhile in a way that matters. Nothing was done.
    #[error("{path}: {what}; nothing was changed, try again")]
    Conflict {
        /// The array.
        path: String,
        /// What was changed.
        what: String,
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

/// The result of something that may fail so.
pub type Result<T, E = MaintainError> = std::result::Result<T, E>;
