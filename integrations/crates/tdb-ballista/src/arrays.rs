//! Open arrays of an executor.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use datafusion::error::{DataFusionError, Result};
use tdb_datafusion::tdb_array::{Array, ArrayError, ErrorCategory, TimeRange};
use tdb_datafusion::{Opener, Scan, ScanPieces};

/// Maximum number of open arrays, with their cached metadata.
const KEPT: usize = 8;
/// Idle time after which an array is closed, when another array is opened.
const IDLE: Duration = Duration::from_secs(60);

/// A cache of open arrays. The tasks of a query read the metadata of an array only once. Queries do
/// not share arrays, because an array opened for one query may be older than the snapshot of the
/// next.
#[derive(Debug)]
pub(crate) struct Arrays {
    opener: Opener,
    open: Mutex<VecDeque<Open>>,
}

#[derive(Debug)]
struct Open {
    key: Key,
    array: Array,
    used: Instant,
}

/// Number of the query, URI of the array, and time range.
type Key = (u64, String, TimeRange);

impl Arrays {
    pub(crate) fn new(opener: Opener) -> Self {
        Self { opener, open: Mutex::default() }
    }

    /// Opens the scan for a query. Blocks.
    ///
    /// # Errors
    /// The array cannot be opened, or lacks a column.
    pub(crate) fn scan(&self, query: u64, pieces: &ScanPieces) -> Result<Scan> {
        let key = (query, pieces.uri().to_owned(), pieces.time());
        let array = match self.kept(&key) {
            Some(array) => array,
            None => {
                let array = self.opener.array(&key.1, Some(key.2))?;
                self.keep(key, &array);
                array
            }
        };
        pieces.on(array)
    }

    fn kept(&self, key: &Key) -> Option<Array> {
        let mut open = self.lock();
        let at = open.iter().position(|open| open.key == *key)?;
        let mut found = open.remove(at)?;
        found.used = Instant::now();
        let array = found.array.clone();
        open.push_back(found);
        Some(array)
    }

    fn keep(&self, key: Key, array: &Array) {
        let used = Instant::now();
        let mut open = self.lock();
        open.retain(|open| used.duration_since(open.used) < IDLE);
        if open.len() >= KEPT {
            open.pop_front();
        }
        open.push_back(Open { key, array: array.clone(), used });
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Converts an error for the scheduler, which keeps only the text. Unavailable storage becomes an
/// I/O error, because schedulers retry these tasks.
pub(crate) fn told(error: DataFusionError) -> DataFusionError {
    let is_unavailable = match error.find_root() {
        DataFusionError::External(source) => {
            source.downcast_ref::<ArrayError>().is_some_and(|error| error.category() == ErrorCategory::Unavailable)
        }
        DataFusionError::ResourcesExhausted(_) => return error,
        _ => false,
    };
    let text = error.strip_backtrace().replace("\ncaused by\nExternal error", "");
    match is_unavailable {
        true => DataFusionError::IoError(std::io::Error::other(text)),
        false => DataFusionError::Execution(text),
    }
}
