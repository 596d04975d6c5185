//! The error of every storage.

use std::io;
use std::sync::Arc;

use crate::manifest_error::ManifestError;

/// A result of a storage operation.
pub type Result<T, E = StorageError> = std::result::Result<T, E>;

/// The error of a storage operation. Except in [`BadPath`](Self::BadPath), paths are complete, as
/// shown to users ([`Storage::describe`](crate::Storage::describe)).
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The path does not exist.
    #[error("{path}: not found")]
    NotFound {
        /// The complete path.
        path: String,
    },
    /// The path already exists.
    #[error("{path}: already exists; existing files are never overwritten")]
    AlreadyExists {
        /// The complete path.
        path: String,
    },
    /// The path is a file instead of a folder.
    #[error("{path}: not a folder")]
    NotAFolder {
        /// The complete path.
        path: String,
    },
    /// The path is a folder or a special file instead of a regular file.
    #[error("{path}: not a regular file")]
    NotAFile {
        /// The complete path.
        path: String,
    },
    /// A path to be removed or renamed leads through a symbolic link. The target may belong to
    /// another user.
    #[error("{path}: cannot remove through a symbolic link")]
    ThroughLink {
        /// The complete path.
        path: String,
    },
    /// The operating system or the object store denies access.
    #[error("{path}: permission denied")]
    PermissionDenied {
        /// The complete path.
        path: String,
    },
    /// The path is malformed, may leave the storage's root, or is unsuitable for the operation.
    #[error("path {path:?} is rejected: {why}")]
    BadPath {
        /// The rejected path.
        path: String,
        /// The violated rule.
        why: &'static str,
    },
    /// A read extends beyond the end of the file: the file was truncated, or the offset is wrong.
    #[error("{path}: expected {need} bytes at {offset:#x}, found the end of the file at {size:#x}")]
    UnexpectedEnd {
        /// The complete path.
        path: String,
        /// The offset of the read.
        offset: u64,
        /// The length of the read, in bytes.
        need: u64,
        /// The size of the file, in bytes.
        size: u64,
    },
    /// A file or a range of a file does not fit in memory.
    #[error("{path}: {size} bytes do not fit in memory")]
    TooLarge {
        /// The complete path.
        path: String,
        /// The size of the file or range, in bytes.
        size: u64,
    },
    /// A file exceeds a limit set by the caller.
    #[error("{path}: file of {size} bytes exceeds the limit of {limit}")]
    OverLimit {
        /// The complete path.
        path: String,
        /// The size of the file, in bytes.
        size: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A range of a file exceeds a limit set by the caller.
    #[error("{path}: range of {need} bytes at {offset:#x} exceeds the limit of {limit}")]
    RangeOverLimit {
        /// The complete path.
        path: String,
        /// The start of the range.
        offset: u64,
        /// The length of the range, in bytes.
        need: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A manifest is malformed.
    #[error("{path}: {source}; run `tdb manifest` again")]
    BadManifest {
        /// The complete path of the manifest.
        path: String,
        /// The error in the text.
        source: ManifestError,
    },
    /// A file differs from its entry in the manifest.
    #[error("{path}: {why}; the manifest is older than the array, run `tdb manifest` again")]
    StaleManifest {
        /// The complete path of the file.
        path: String,
        /// The difference.
        why: String,
    },
    /// Any other I/O error.
    #[error("{path}: {source}")]
    Io {
        /// The complete path.
        path: String,
        /// The underlying error, usually of the operating system.
        source: Arc<io::Error>,
    },
}

impl StorageError {
    /// Converts an I/O error for the file or folder at `path`, a complete path for the message.
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

    /// Returns `true` if the path does not exist. Useful for optional files.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }

    /// Returns the path of the failed operation.
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
            | Self::BadManifest { path, .. }
            | Self::StaleManifest { path, .. }
            | Self::Io { path, .. } => path,
        }
    }
}
