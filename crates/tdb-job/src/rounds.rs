//! Repeated checks of arrays during concurrent writes and jobs.

use tdb_array::{Array, ArrayError};
use tdb_storage::Storage;

use crate::error::{MaintainError, Result};
use crate::target::Stamp;

/// Maximum number of checks.
const ROUNDS: usize = 16;
/// Maximum number of reads if vacuums repeatedly delete files.
const READS: usize = 8;

/// Result of repeated checks of an array or group.
#[derive(Debug)]
pub struct Looked<R> {
    /// Result of the last check.
    pub last: R,
    /// Result of the previous check, if the array changed during each of the 16 checks.
    pub before: Option<R>,
}

/// Repeats a check until it finds no problem, until no file changes during the check, or until the
/// check finds no new problem. `is_sound` returns `true` if a result contains no problem.
/// `is_known` returns `true` if the first result contains no problem that the second result does
/// not contain.
///
/// Stops after 16 checks.
pub fn until_settled<R>(
    storage: &dyn Storage,
    mut look: impl FnMut() -> R,
    is_sound: impl Fn(&R) -> bool,
    is_known: impl Fn(&R, &R) -> bool,
) -> Looked<R> {
    let mut before: Option<R> = None;
    let mut rounds = 0;
    loop {
        rounds += 1;
        let stamp = Stamp::of(storage, &Stamp::ALL);
        let last = look();
        let is_unchanged = || match &stamp {
            Ok(stamp) => stamp.is_current(storage).unwrap_or(false),
            Err(_) => Stamp::of(storage, &Stamp::ALL).is_err(),
        };
        let is_settled =
            is_sound(&last) || is_unchanged() || before.as_ref().is_some_and(|before| is_known(&last, before));
        if is_settled {
            return Looked { last, before: None };
        }
        if rounds == ROUNDS {
            return Looked { last, before };
        }
        before = Some(last);
    }
}

/// Reads an array. If a file is missing, for example because of a vacuum, reopens the array at the
/// same time range and repeats the read.
///
/// # Errors
/// An error of `read` other than a missing file, a file that is missing in each of 8 attempts, or
/// an error of reopening the array.
pub fn read_anew<T>(array: &Array, read: impl Fn(&Array) -> Result<T>) -> Result<T> {
    let mut array = array.clone();
    for _ in 1..READS {
        match read(&array) {
            Err(error) if is_gone(&error) => array = array.reopened_between(array.time())?,
            other => return other,
        }
    }
    read(&array)
}

/// Returns `true` if the error is a missing file.
pub fn is_gone(error: &MaintainError) -> bool {
    let (MaintainError::Storage(error) | MaintainError::Array(ArrayError::Storage(error))) = error else {
        return false;
    };
    error.is_not_found()
}
