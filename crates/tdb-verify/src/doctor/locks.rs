//! Locks and the state of the owners.

use tdb_storage::{Entry, Storage};

use super::diagnosis::{Diagnosis, Remedy};
use tdb_job::Result;
use tdb_job::lock::{is_left_behind, is_none};

const WHAT: &str = "a lock";
const OF_DEAD: &str = "whoever maintained this is dead for certain; the next one takes it over";
const OF_OTHERS: &str = "whoever maintains this is at it, or was killed where that can't be seen; until it is gone, nobody else can. \
                         If it is certain that nobody is at it, ask for it by its path";

const NO_LOCK: &str = "it isn't a lock, but has the name of one, so that nobody can maintain this: look whose it is, and move it elsewhere";

/// Returns the diagnosis of a lock.
pub(super) fn look(storage: &dyn Storage, entry: &Entry) -> Result<Diagnosis> {
    if let Some(what) = is_none(entry) {
        return Ok(Diagnosis::file(entry.name.clone(), entry.size, what, NO_LOCK).with(Remedy::None).of(entry.kind));
    }
    let (why, remedy) = match is_left_behind(storage, &entry.name)? {
        true => (OF_DEAD, Remedy::SetAside),
        false => (OF_OTHERS, Remedy::TakeOver),
    };
    let one = Diagnosis::file(entry.name.clone(), entry.size, WHAT, why);
    // The next job takes over the lock of a dead process.
    Ok(if remedy == Remedy::SetAside { one.harmless() } else { one.with(remedy) })
}
