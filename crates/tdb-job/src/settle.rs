//! Completion or rollback of interrupted consolidations before a job copies an array. Otherwise the
//! copy could permanently contain cells twice.
//!
//! A consolidation creates its journal before it commits the new fragments, and deletes the journal
//! after it has written the vacuum file. If two listings of vacuum files are equal and no journal
//! exists between them, no consolidation took place in between.

use std::sync::Arc;

use tdb_array::{Array, ArrayOptions, MemberKind, TimeRange};
use tdb_storage::{Storage, is_temporary};
use tdb_types::names::{COMMITS_FOLDER, JOURNAL_PREFIX, VACUUM_EXTENSION, file_name};

use crate::error::{MaintainError, Result};
use crate::journal::{NOT_OURS, journals, recover};
use crate::lock::Lock;
use crate::target::{kind_of, list};

/// Maximum number of attempts during concurrent consolidations.
const ROUNDS: usize = 20;

/// Reopens the array for a time range, at a moment when no fragments are being consolidated.
///
/// # Errors
/// - [`MaintainError::Busy`] if another job holds the lock.
/// - [`MaintainError::Unsettled`] if an interrupted consolidation can be neither completed nor
///   rolled back.
/// - [`MaintainError::Conflict`] if fragments were consolidated during each of 20 attempts.
/// - The array cannot be read.
pub fn settled(array: &Array, time: TimeRange) -> Result<Array> {
    let storage = array.storage();
    for _ in 0..ROUNDS {
        settle(array, false)?;
        let before = lists(&**storage)?;
        let now = array.reopened_between(time)?;
        if journals(&**storage)?.is_empty() && lists(&**storage)? == before {
            return Ok(now);
        }
    }
    let what = "fragments were consolidated repeatedly while the array was opened".to_owned();
    Err(MaintainError::Conflict { path: storage.describe(""), what })
}

/// Completes or rolls back interrupted consolidations in the arrays of a storage. `temporary` lists
/// the paths of temporary files, including journals. Returns `true` if an array has a journal.
///
/// # Errors
/// - [`MaintainError::Busy`] if another job holds the lock of an array.
/// - [`MaintainError::Unsettled`] if an array with a journal cannot be opened, or if an interrupted
///   consolidation can be neither completed nor rolled back.
/// - A folder cannot be listed.
pub fn settle_all(storage: &Arc<dyn Storage>, temporary: &[String], take_over: bool) -> Result<bool> {
    let mut is_any = false;
    for path in temporary.iter().filter(|path| file_name(path).starts_with(JOURNAL_PREFIX)) {
        let place = match path.rsplit_once('/') {
            Some((folder, _)) => storage.sub(folder)?,
            None => storage.clone(),
        };
        if kind_of(&place)? != MemberKind::Array || journals(&*place)?.is_empty() {
            continue;
        }
        is_any = true;
        let array = ArrayOptions::new().between(TimeRange::ALL).open_on(place);
        let array = array.map_err(|error| unsettled(&**storage, path, &error.to_string()))?;
        settle(&array, take_over)?;
    }
    Ok(is_any)
}

/// Completes or rolls back the interrupted consolidations of an array.
fn settle(array: &Array, take_over: bool) -> Result<()> {
    let storage = array.storage();
    let Some(first) = journals(&**storage)?.into_iter().next() else { return Ok(()) };
    let outcome = Lock::take(storage, take_over).and_then(|_lock| recover(array));
    match outcome {
        Ok(recovered) => match recovered.left.first() {
            Some(path) => Err(unsettled(&**storage, path, NOT_OURS)),
            None => Ok(()),
        },
        Err(error @ (MaintainError::Busy { .. } | MaintainError::Conflict { .. })) => Err(error),
        // A reader may lack the permission to write.
        Err(error) => Err(unsettled(&**storage, &first, &error.to_string())),
    }
}

fn unsettled(storage: &dyn Storage, path: &str, why: &str) -> MaintainError {
    MaintainError::Unsettled { path: storage.describe(path), why: why.to_owned() }
}

/// Returns the names of the vacuum files of fragments.
fn lists(storage: &dyn Storage) -> Result<Vec<String>> {
    let is_list = |name: &str| {
        name.rsplit_once('.').is_some_and(|(_, extension)| extension == VACUUM_EXTENSION) && !is_temporary(name)
    };
    let mut lists = Vec::new();
    for folder in ["", COMMITS_FOLDER] {
        let names = list(storage, folder)?.into_iter().map(|entry| entry.name);
        lists.extend(names.filter(|name| is_list(name)));
    }
    lists.sort_unstable();
    Ok(lists)
}
