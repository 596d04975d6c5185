//! The arrays that an executor has open.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use datafusion::error::{DataFusionError, Result};
use tdb_datafusion::tdb_array::{Array, ArrayError, ErrorCategory, TimeRange};
use tdb_datafusion::{Opener, Scan, ScanPieces};

/// So many arrays are kept open, with what was read of their metadata.
const KEPT: usize = 8;
/// An array that nobody has asked for in so long is closed when another one is opened.
const IDLE: Duration = Duration::from_secs(60);

/// Opens arrays, and keeps those that were used last: the tasks of a query read an array's metadata once, not once each. Queries don't
/// share them, since an array that was opened for one of them may be older than the snapshot that the next one is of.
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

/// The number of the query, the array's URI, and the time that it is looked at.
type Key = (u64, String, TimeRange);

impl Arrays {
    pub(crate) fn new(opener: Opener) -> Self {
        Self { opener, open: Mutex::default() }
    }

    /// The scan that these are, for a query with this number. It blocks.
    ///
    /// # Errors
    /// The array can't be opened, or has no such columns.
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

/// An error as it is told to schedulers, which keep its text alone. That of a storage that is out of reach is an I/O error: schedulers try
/// such tasks again.
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
