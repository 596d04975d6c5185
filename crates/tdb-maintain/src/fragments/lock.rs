//! One at a time: who maintains an array says so in a file that readers and writers don't look at.

use std::sync::Arc;

use tdb_storage::{Storage, StorageError};

use crate::{MaintainError, Result};

/// The file's name. Names of temporary files never have an underscore: some releases of the reference library would take
/// them for fragments.
const LOCK: &str = ".tdb-maintain.tmp";

/// While this lives, nobody else maintains the array.
#[derive(Debug)]
pub(crate) struct Lock {
    storage: Arc<dyn Storage>,
}

impl Lock {
    /// Takes the lock. One that a dead process on this machine has left is taken over, and every one if `take_over` says so.
    pub(crate) fn take(storage: &Arc<dyn Storage>, take_over: bool) -> Result<Self> {
        let own = Owner::this();
        match storage.create_new(LOCK, own.to_string().as_bytes()) {
            Ok(()) => return Ok(Self { storage: Arc::clone(storage) }),
            Err(StorageError::AlreadyExists { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let text = match storage.read_up_to(LOCK, 4096) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.is_not_found() => String::new(),
            Err(error) => return Err(error.into()),
        };
        let is_dead = Owner::parse(&text).is_some_and(|owner| owner.is_dead(&own));
        if !take_over && !is_dead {
            let who = if text.is_empty() { "somebody else".to_owned() } else { text.trim_end().replace('\n', ", ") };
            return Err(MaintainError::Busy { path: storage.describe(LOCK), who });
        }
        match storage.remove_file(LOCK) {
            Err(error) if !error.is_not_found() => return Err(error.into()),
            _ => {}
        }
        // Of two who take it over one fails here.
        storage.create_new(LOCK, own.to_string().as_bytes())?;
        Ok(Self { storage: Arc::clone(storage) })
    }

    /// A lock that lies in another place now.
    pub(crate) fn moved(storage: &Arc<dyn Storage>) -> Self {
        Self { storage: Arc::clone(storage) }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // There is no caller to report it to; the next one finds that its owner is dead.
        let _ = self.storage.remove_file(LOCK);
    }
}

/// Who has the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owner {
    process: u32,
    /// What process numbers count in: the machine, since when it runs, and its part; empty where it isn't known.
    place: String,
}

impl Owner {
    fn this() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
        let namespace = std::fs::read_link("/proc/self/ns/pid").ok().map(|link| link.display().to_string());
        let parts = [read("/proc/sys/kernel/hostname"), read("/proc/sys/kernel/random/boot_id"), namespace];
        let place = parts.into_iter().collect::<Option<Vec<_>>>().map(|parts| parts.join(" "));
        Self { process: std::process::id(), place: place.unwrap_or_default() }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let process = lines.next()?.strip_prefix("process ")?.parse().ok()?;
        Some(Self { process, place: lines.next()?.strip_prefix("on ")?.to_owned() })
    }

    /// Whether it is certain that the process is gone.
    fn is_dead(&self, own: &Self) -> bool {
        let is_here = !self.place.is_empty() && self.place == own.place;
        is_here && !std::path::Path::new(&format!("/proc/{}", self.process)).exists()
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "process {}\non {}", self.process, self.place)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tdb_storage::MemoryStorage;

    use super::*;

    #[test]
    fn one_at_a_time() {
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let lock = Lock::take(&storage, false).unwrap();
        let error = Lock::take(&storage, false).unwrap_err();
        assert!(matches!(&error, MaintainError::Busy { who, .. } if who.contains("process")), "{error}");
        drop(lock);
        let lock = Lock::take(&storage, false).unwrap();
        std::mem::forget(lock);
        drop(Lock::take(&storage, true).unwrap());
        assert!(!storage.exists(LOCK).unwrap());
    }

    #[test]
    fn what_the_dead_have_left_is_taken_over() {
        let own = Owner::this();
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        // No process has the greatest number.
        let dead = Owner { process: u32::MAX, ..own.clone() };
        assert_eq!(Owner::parse(&dead.to_string()), Some(dead.clone()));
        storage.create_new(LOCK, dead.to_string().as_bytes()).unwrap();
        assert_eq!(Lock::take(&storage, false).is_ok(), !own.place.is_empty());
        let elsewhere = Owner { place: "elsewhere".to_owned(), ..dead };
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        storage.create_new(LOCK, elsewhere.to_string().as_bytes()).unwrap();
        assert!(Lock::take(&storage, false).is_err());
    }
}
