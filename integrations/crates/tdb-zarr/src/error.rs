//! What can go wrong between arrays and Zarr.

use std::io;
use std::path::{Path, PathBuf};

use tdb_array::tdb_schema::SchemaError;
use tdb_array::{ArrayError, CellsError};
use tdb_schema_text::SchemaTextError;

/// An error of this crate; it names the file, the field, the member or the chunk that it is about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The array or group can't be read, written or made.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// What an array is to be made from contradicts itself or the format.
    #[error("{path}: the new schema: {source}")]
    Schema {
        /// The folder in Zarr.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: SchemaError,
    },
    /// A schema can't be told as text.
    #[error("the schema can't be told as text: {0}")]
    SchemaText(#[from] SchemaTextError),
    /// A file or folder can't be read or written.
    #[error("{path}: {source}")]
    Io {
        /// Its path.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Something is there already.
    #[error("{path}: something is there already")]
    AlreadyThere {
        /// Where.
        path: PathBuf,
    },
    /// There is neither an array nor a group of Zarr.
    #[error("{path}: no Zarr array or group (no zarr.json, .zarray or .zgroup)")]
    NotZarr {
        /// Where.
        path: PathBuf,
    },
    /// The metadata of Zarr can't be read, or contradict themselves.
    #[error("{path}: {why}")]
    Metadata {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// An array can't hold what is in Zarr.
    #[error("{path}: an array can't hold this: {why}")]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it is.
        why: String,
    },
    /// Zarr can't hold what is in the array or group.
    #[error("{what}: Zarr can't hold this: {why}")]
    Refused {
        /// The array, field or member.
        what: String,
        /// Why not, and what to do.
        why: String,
    },
    /// A chunk can't be read or written.
    #[error("{path}: chunk {chunk:?}: {why}")]
    Chunk {
        /// The folder of the Zarr array.
        path: PathBuf,
        /// Which chunk.
        chunk: Vec<u64>,
        /// What is wrong.
        why: String,
    },
    /// It can't be read which chunks a shard has.
    #[error("{path}: the shard can't be read: {why}")]
    Shard {
        /// The file of the shard.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A cell can't be told in the other's terms.
    #[error("field {field:?}, in the box of cells that begins at {near:?}: {why}")]
    Cell {
        /// The field.
        field: String,
        /// The first coordinates of the cells that it is among.
        near: Vec<i128>,
        /// What is wrong with it.
        why: String,
    },
    /// The observer has ended it.
    #[error("stopped")]
    Stopped,
}

/// A result whose error names what it is about.
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
