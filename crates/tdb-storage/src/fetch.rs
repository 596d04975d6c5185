//! Many reads in one call.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use crate::{ReadAt, Result, Storage, StorageError, read_range};

/// How a storage likes to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadProfile {
    /// Ranges of a file that lie at most so many bytes apart are better read as one, gap included (see
    /// [`coalesce`](crate::coalesce)).
    pub gap: u64,
    /// Most bytes of one request, where many bytes are wanted: a larger range arrives sooner as several requests.
    pub largest: u64,
    /// How many requests may wait for their answers at once. With 1 there is no waiting worth the name, as with local files:
    /// then nothing is read ahead.
    pub in_flight: usize,
}

impl ReadProfile {
    /// Of local files: a read costs about as much as copying 16 KiB out of the page cache.
    pub const LOCAL: Self = Self { gap: 16 << 10, largest: 16 << 20, in_flight: 1 };

    /// A profile.
    #[must_use]
    pub const fn new(gap: u64, largest: u64, in_flight: usize) -> Self {
        Self { gap, largest, in_flight }
    }

    /// Whether answers take so long that it is worth to ask for bytes before they are needed.
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        self.in_flight > 1
    }
}

/// A read of one file, as part of a [`Storage::fetch`].
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
    /// A range of a file of which the size is known.
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

/// Answers a request by opening the file and reading from it.
pub(crate) fn fetch_one<S: Storage + ?Sized>(storage: &S, request: &Request) -> Result<Fetched> {
    let Request { path, part, limit } = request;
    let file = match part {
        Part::Range { size, .. } => storage.open_sized(path, *size)?,
        Part::All | Part::Last(_) => storage.open(path)?,
    };
    let size = file.size();
    let range = match part {
        Part::All if size > *limit => {
            return Err(StorageError::OverLimit { path: storage.describe(path), size, limit: *limit });
        }
        Part::All => 0..size,
        Part::Last(len) => size.saturating_sub(*len)..size,
        Part::Range { range, .. } => range.clone(),
    };
    let bytes = read_range(&*file, range.clone(), *limit, || storage.describe(path))?;
    Ok(Fetched { file, start: range.start, bytes })
}

/// Runs `job` for each item, up to `in_flight` of them at once: for jobs that wait rather than compute. Results come in the
/// order of the items. Where there can't be threads, the caller's does it all.
///
/// ```
/// let squares = tdb_storage::at_once(3, &[1, 2, 3, 4], |number| number * number);
/// assert_eq!(squares, [1, 4, 9, 16]);
/// ```
pub fn at_once<T: Sync, R: Send + Sync>(in_flight: usize, items: &[T], job: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if in_flight <= 1 || items.len() <= 1 {
        return items.iter().map(job).collect();
    }
    let results: Vec<OnceLock<R>> = items.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((item, result)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            items.get(index).zip(results.get(index))
        } {
            // Each index is handed out once.
            let _ = result.set(job(item));
        }
    };
    thread::scope(|scope| {
        for _ in 1..in_flight.min(items.len()) {
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    results.into_iter().filter_map(OnceLock::into_inner).collect()
}
