//! Repeated checks of arrays during concurrent writes and jobs.

use tdb_array::{Array, ArrayError};
use tdb_storage::Storage;

use crate::error::{MaintainError, Result};
use crate::target::Stamp;

/// Maximum number of checks.
const ROUNDS: usize = 16;
/// Maximum number of reads during repeated vacuums.
const READS: usize = 8;

/// Result of repeated checks of an array or group.
#[derive(Debug)]
pub struct Looked<R> {
    /// Result of the last check.
    pub last: R,
    /// Result of the check before, if the array changed during every check.
    pub before: Option<R>,
}

/// Repeats a check until one of three conditions holds. The check finds no problem, the files stay
/// the same during a check, or a check finds no new problem.
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
        let stamp = Stamp::of(storage).ok();
        let last = look();
        let is_settled = is_sound(&last)
            || stamp == Stamp::of(storage).ok()
            || before.as_ref().is_some_and(|before| is_known(&last, before));
        if is_settled {
            return Looked { last, before: None };
        }
        if rounds == ROUNDS {
            return Looked { last, before };
        }
        before = Some(last);
    }
}

/// Reads an array. Reopens it at the same times and repeats the read if a vacuum has deleted files.
///
/// # Errors
/// Errors of `read`. A file missing each time is an error.
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
