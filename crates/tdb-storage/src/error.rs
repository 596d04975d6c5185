//! The error of every storage: what went wrong, with which path.

use std::io;
use std::sync::Arc;

/// A result of a storage operation.
pub type Result<T, E = StorageError> = std::result::Result<T, E>;

/// What a storage could not do. Paths are whole paths as the user knows them ([`Storage::describe`](crate::Storage::describe)).
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// Nothing has this path.
    #[error("{path}: not found")]
    NotFound {
        /// The whole path.
        path: String,
    },
    /// Something has this path already.
    #[error("{path}: already exists, and is never overwritten")]
    AlreadyExists {
        /// The whole path.
        path: String,
    },
    /// A folder was expected, and a file is there.
    #[error("{path}: not a folder")]
    NotAFolder {
        /// The whole path.
        path: String,
    },
    /// A file was expected, and a folder or something stranger is there.
    #[error("{path}: not a regular file")]
    NotAFile {
        /// The whole path.
        path: String,
    },
    /// A file or folder that was to be removed is reached through a symbolic link: it may be anybody's.
    #[error("{path}: reached through a symbolic link; nothing is removed through one")]
    ThroughLink {
        /// The whole path.
        path: String,
    },
    /// The operating system doesn't let this user do that.
    #[error("{path}: permission denied")]
    PermissionDenied {
        /// The whole path.
        path: String,
    },
    /// The path could leave the storage's root, or can't name anything in it.
    #[error("path {path:?} is refused: {why}")]
    BadPath {
        /// The path as it was given.
        path: String,
        /// The rule that it breaks.
        why: &'static str,
    },
    /// A read reaches beyond the end of the file: the file was cut short, or what said where to read is wrong.
    #[error("{path}: need {need} bytes at {offset:#x}, but the file ends at {size:#x}")]
    UnexpectedEnd {
        /// The whole path.
        path: String,
        /// Where the read begins.
        offset: u64,
        /// How many bytes it needs.
        need: u64,
        /// How many bytes the file has.
        size: u64,
    },
    /// A file is larger than the memory that can be had for reading it whole, or for writing it to a storage in memory.
    #[error("{path}: {size} bytes are too many to read at once")]
    TooLarge {
        /// The whole path.
        path: String,
        /// How many bytes the file has.
        size: u64,
    },
    /// A file is larger than the caller lets it be.
    #[error("{path}: {size} bytes are more than the limit of {limit}")]
    OverLimit {
        /// The whole path.
        path: String,
        /// How many bytes the file has.
        size: u64,
        /// How many it may have.
        limit: u64,
    },
    /// Something in a file is larger than the caller lets it be.
    #[error("{path}: {need} bytes at {offset:#x} are more than the limit of {limit}")]
    RangeOverLimit {
        /// The whole path.
        path: String,
        /// Where it begins.
        offset: u64,
        /// How many bytes it has.
        need: u64,
        /// How many it may have.
        limit: u64,
    },
    /// Any other trouble that the operating system reports.
    #[error("{path}: {source}")]
    Io {
        /// The whole path.
        path: String,
        /// What the operating system says.
        source: Arc<io::Error>,
    },
}

impl StorageError {
    /// The error that `source` is for the file or folder at `path` (a whole path, for the message).
    #[cold]
    #[must_use]
    pub fn from_io(path: String, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::AlreadyExists => Self::AlreadyExists { path },
            io::ErrorKind::PermissionDenied => Self::PermissionDenied { path },
            io::ErrorKind::NotADirectory => Self::NotAFolder { path },
            io::ErrorKind::IsADirectory => Self::NotAFile { path },
            _ => Self::Io { path, source: Arc::new(source) },
        }
    }

    /// Whether nothing has the path: what callers that look for something optional ask.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }

    /// The path that the operation was about.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::NotFound { path }
            | Self::AlreadyExists { path }
            | Self::NotAFolder { path }
            | Self::NotAFile { path }
            | Self::ThroughLink { path }
            | Self::PermissionDenied { path }
            | Self::BadPath { path, .. }
            | Self::UnexpectedEnd { path, .. }
            | Self::TooLarge { path, .. }
            | Self::OverLimit { path, .. }
            | Self::RangeOverLimit { path, .. }
            | Self::Io { path, .. } => path,
        }
    }
}
