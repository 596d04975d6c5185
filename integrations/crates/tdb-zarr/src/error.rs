//! Errors of conversions between arrays and Zarr.

use std::io;
use std::path::{Path, PathBuf};

use tdb_array::tdb_schema::SchemaError;
use tdb_array::{ArrayError, CellsError};
use tdb_schema_text::SchemaTextError;

/// Error of this crate. Names the file, field, member or chunk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading, writing or creating the array or group failed.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// The new schema contradicts itself or the format.
    #[error("{path}: invalid new schema: {source}")]
    Schema {
        /// Path of the Zarr folder.
        path: PathBuf,
        /// Cause.
        #[source]
        source: SchemaError,
    },
    /// A schema cannot be serialized as text.
    #[error("cannot write the schema as text: {0}")]
    SchemaText(#[from] SchemaTextError),
    /// A file or folder cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// Path of the file or folder.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The target already exists.
    #[error("{path}: already exists")]
    AlreadyThere {
        /// Path of the target.
        path: PathBuf,
    },
    /// The folder is neither a Zarr array nor a Zarr group.
    #[error("{path}: not a Zarr array or group: expected zarr.json, .zarray or .zgroup")]
    NotZarr {
        /// Path of the folder.
        path: PathBuf,
    },
    /// The Zarr metadata is unreadable or inconsistent.
    #[error("{path}: {why}")]
    Metadata {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        why: String,
    },
    /// An array cannot hold the Zarr data.
    #[error("{path}: not supported by arrays: {why}")]
    Unsupported {
        /// Path of the file.
        path: PathBuf,
        /// Description of the unsupported feature.
        why: String,
    },
    /// Zarr cannot hold the array or group.
    #[error("{what}: not supported by Zarr: {why}")]
    Refused {
        /// Name of the array, field or member.
        what: String,
        /// Reason, and a hint where one exists.
        why: String,
    },
    /// A chunk cannot be read or written.
    #[error("{path}: chunk {chunk:?}: {why}")]
    Chunk {
        /// Path of the Zarr array.
        path: PathBuf,
        /// Index of the chunk along each dimension.
        chunk: Vec<u64>,
        /// Cause.
        why: String,
    },
    /// The index of a shard is unreadable.
    #[error("{path}: cannot read the shard: {why}")]
    Shard {
        /// Path of the shard.
        path: PathBuf,
        /// Cause.
        why: String,
    },
    /// A cell cannot be converted.
    #[error("field {field:?}, in the subarray that begins at {near:?}: {why}")]
    Cell {
        /// Name of the field.
        field: String,
        /// Coordinates of the first cell in the same subarray.
        near: Vec<i128>,
        /// Cause.
        why: String,
    },
    /// The observer stopped the operation.
    #[error("stopped")]
    Stopped,
}

/// Result with an [`Error`], unless another error type is given.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<CellsError> for Error {
    fn from(error: CellsError) -> Self {
        Self::Array(error.into())
    }
}

impl Error {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn metadata(path: &Path, why: impl Into<String>) -> Self {
        Self::Metadata { path: path.to_owned(), why: why.into() }
    }

    pub(crate) fn unsupported(path: &Path, why: impl Into<String>) -> Self {
        Self::Unsupported { path: path.to_owned(), why: why.into() }
    }

    pub(crate) fn refused(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Refused { what: what.into(), why: why.into() }
    }
}
