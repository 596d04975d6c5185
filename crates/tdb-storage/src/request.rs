//! Reads of whole files and of parts, asked for and answered.

use std::ops::Range;
use std::sync::Arc;

use crate::ReadAt;

/// A read of one file, as part of a [`Storage::fetch`](crate::Storage::fetch).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The file.
    pub path: String,
    /// Which bytes of it.
    pub part: Part,
    /// Most bytes that the answer may have; more are an error.
    pub limit: u64,
}

/// Which bytes of a file are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of them.
    All,
    /// The last ones, as many as that, or all if the file has fewer.
    Last(u64),
    /// A range of a file whose size is known.
    Range {
        /// The bytes.
        range: Range<u64>,
        /// The file's size.
        size: u64,
    },
}

/// The answer to a [`Request`].
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The file, for further reads.
    pub file: Arc<dyn ReadAt>,
    /// Where in the file the bytes begin.
    pub start: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether the storage had them in memory: then nothing was asked of anybody.
    pub is_cached: bool,
}

impl Request {
    /// All bytes of a file, `limit` of them at most.
    #[must_use]
    pub fn all(path: impl Into<String>, limit: u64) -> Self {
        Self { path: path.into(), part: Part::All, limit }
    }

    /// The last `len` bytes of a file, or all if it has fewer.
    #[must_use]
    pub fn last(path: impl Into<String>, len: u64) -> Self {
        Self { path: path.into(), part: Part::Last(len), limit: len }
    }

    /// A range of a file of `size` bytes.
    #[must_use]
    pub fn range(path: impl Into<String>, range: Range<u64>, size: u64) -> Self {
        let limit = range.end.saturating_sub(range.start);
        Self { path: path.into(), part: Part::Range { range, size }, limit }
    }
}
