//! Locks of maintenance, and whether those are dead for certain who have them.

use tdb_storage::{Entry, Storage};

use super::diagnosis::{Diagnosis, Remedy};
use crate::Result;
use crate::lock::is_left_behind;

const WHAT: &str = "a lock";
const OF_DEAD: &str = "whoever maintained this is dead for certain; the next one takes it over";
const OF_OTHERS: &str = "whoever maintains this is at it, or was killed where that can't be seen; until it is gone, nobody else can. \
                         If it is certain that nobody is at it, ask for it by its path";

/// What is to be said of a lock.
pub(super) fn look(storage: &dyn Storage, entry: &Entry) -> Result<Diagnosis> {
    let (why, remedy) = match is_left_behind(storage, &entry.name)? {
        true => (OF_DEAD, Remedy::SetAside),
        false => (OF_OTHERS, Remedy::TakeOver),
    };
    Ok(Diagnosis::file(entry.name.clone(), entry.size, WHAT, why).with(remedy))
}
