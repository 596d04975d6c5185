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
    /// A schema can't be written as text.
    #[error(transparent)]
    Schema(#[from] tdb_schema_text::SchemaTextError),
    /// The text of a schema isn't what it should be.
    #[error("the text of a schema: {0}")]
    Text(String),
    /// A file can't be read, written, listed or removed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// The result of something that may fail so.
pub type Result<T, E = MaintainError> = std::result::Result<T, E>;
