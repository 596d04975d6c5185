//! Requests for files and parts of files.

use std::ops::Range;
use std::sync::Arc;

use crate::ReadAt;

/// A request to read a file, for [`Storage::fetch_one`](crate::Storage::fetch_one) and
/// [`Storage::fetch`](crate::Storage::fetch).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The path of the file.
    pub path: String,
    /// The requested bytes.
    pub part: Part,
    /// Maximum size of the answer, in bytes. A larger answer is an error.
    pub limit: u64,
}

/// The requested part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The entire file.
    All,
    /// At most this number of bytes, at the end of the file.
    Last(u64),
    /// A range of a file of known size.
    Range {
        /// The byte range.
        range: Range<u64>,
        /// The size of the file, in bytes.
        size: u64,
    },
}

/// The answer to a [`Request`].
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The file, for further reads.
    pub file: Arc<dyn ReadAt>,
    /// The offset of `bytes` in the file.
    pub start: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// `true` if the bytes came from the storage's cache, without a request.
    pub is_cached: bool,
}

impl Request {
    /// Requests an entire file of at most `limit` bytes.
    #[must_use]
    pub fn all(path: impl Into<String>, limit: u64) -> Self {
        Self { path: path.into(), part: Part::All, limit }
    }

    /// Requests the last `len` bytes of a file, or the entire file if it is shorter.
    #[must_use]
    pub fn last(path: impl Into<String>, len: u64) -> Self {
        Self { path: path.into(), part: Part::Last(len), limit: len }
    }

    /// Requests a range of a file of `size` bytes.
    #[must_use]
    pub fn range(path: impl Into<String>, range: Range<u64>, size: u64) -> Self {
        let limit = range.end.saturating_sub(range.start);
        Self { path: path.into(), part: Part::Range { range, size }, limit }
    }
}
