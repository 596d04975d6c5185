//! Locks, and whether their owners are alive.

use tdb_storage::{Entry, Storage};

use super::diagnosis::{Diagnosis, Remedy};
use tdb_job::Result;
use tdb_job::lock::{is_left_behind, is_none};

const WHAT: &str = "a lock";
const OF_DEAD: &str = "the owner of the lock is dead; the next job takes over the lock";
const OF_OTHERS: &str = "the owner is running, or was killed on another machine; the lock blocks all other jobs. If the owner has certainly ended, pass the path of the lock to --only";

const NO_LOCK: &str = "not a lock despite the name, and blocks all jobs; find the owner, and move it elsewhere";

/// Returns the diagnosis of a lock.
pub(super) fn look(storage: &dyn Storage, entry: &Entry) -> Result<Diagnosis> {
    if let Some(what) = is_none(entry) {
        return Ok(Diagnosis::file(entry.name.clone(), entry.size, what, NO_LOCK).with(Remedy::None).of(entry.kind));
    }
    let (why, remedy) = match is_left_behind(storage, &entry.name)? {
        true => (OF_DEAD, Remedy::Quarantine),
        false => (OF_OTHERS, Remedy::TakeOver),
    };
    let one = Diagnosis::file(entry.name.clone(), entry.size, WHAT, why);
    // The next job takes over the lock of a dead process.
    Ok(if remedy == Remedy::Quarantine { one.harmless() } else { one.with(remedy) })
}
