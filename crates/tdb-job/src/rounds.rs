//! Looks at what others write and maintain meanwhile.

use tdb_array::{Array, ArrayError};
use tdb_storage::Storage;

use crate::error::{MaintainError, Result};
use crate::target::Stamp;

/// Looks at most.
const ROUNDS: usize = 16;
/// Reads at most of an array that is vacuumed again and again.
const READS: usize = 8;

/// What the last look at an array or group has found.
#[derive(Debug)]
pub struct Looked<R> {
    /// What it has found.
    pub last: R,
    /// What the look before that has found, if nothing is certain: the array has changed during each look.
    pub before: Option<R>,
}

/// Looks until nothing is found wrong, or the files have stayed the same during a look, or a look finds nothing that the one before
/// hasn't found.
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

/// Reads an array, and reads it anew, opened again at the same times, where a vacuum has removed files meanwhile.
///
/// # Errors
/// Those of `read`. A file that is missing each time is an error.
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

/// Whether a file isn't there.
pub fn is_gone(error: &MaintainError) -> bool {
    let (MaintainError::Storage(error) | MaintainError::Array(ArrayError::Storage(error))) = error else {
        return false;
    };
    error.is_not_found()
}
