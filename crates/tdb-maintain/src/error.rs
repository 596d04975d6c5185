//! What can go wrong.

use tdb_array::ArrayError;
use tdb_storage::StorageError;

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
    /// A text isn't a manifest.
    #[error("line {line} isn't one of a manifest: a SHA-256 in 64 hexadecimal digits, two spaces, a path")]
    Manifest {
        /// The number of the line, from 1 on.
        line: usize,
    },
}

/// The result of something that may fail so.
pub type Result<T, E = MaintainError> = std::result::Result<T, E>;
