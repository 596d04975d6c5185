//! A record of commits, to check the results of concurrent reads.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// All writes and deletes that have begun, by serial number. The higher serial number wins,
/// regardless of the order of commits.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<BTreeMap<u64, Entry>>);

#[derive(Clone, Copy, Debug)]
struct Entry {
    deletes: bool,
    is_committed: bool,
}

/// The commits before the start of a read, which the read must see.
#[derive(Clone, Copy, Debug, Default)]
pub struct Least {
    write: u64,
    delete: u64,
}

impl Ledger {
    /// Returns the serial number of a new write, or of a delete of all earlier writes.
    pub fn begin(&self, deletes: bool) -> u64 {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let serial = entries.len() as u64 + 1;
        entries.insert(serial, Entry { deletes, is_committed: false });
        serial
    }

    /// Marks a write or delete as committed.
    pub fn committed(&self, serial: u64) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.get_mut(&serial) {
            entry.is_committed = true;
        }
    }

    /// Returns the commits before now. A read that begins after this call must see them.
    #[must_use]
    pub fn least(&self) -> Least {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = |deletes: bool| {
            let mut of_kind = entries.iter().rev().filter(|(_, entry)| entry.is_committed && entry.deletes == deletes);
            of_kind.next().map_or(0, |(serial, _)| *serial)
        };
        Least { write: last(false), delete: last(true) }
    }

    /// Checks that a read may return the write `seen`, or no cells if `seen` is `None`. `least` was
    /// taken before the read began.
    ///
    /// # Errors
    /// Returns the reason if the result is invalid.
    pub fn may_see(&self, least: Least, seen: Option<u64>) -> Result<(), String> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match seen {
            Some(serial) => {
                let entry = entries.get(&serial).ok_or_else(|| format!("{serial} was never written"))?;
                if entry.deletes || serial < least.delete {
                    return Err(format!("{serial} was deleted before the read began: {least:?}"));
                }
                // A delete covers all earlier writes, so an older write must not reappear.
                match serial < least.write {
                    true => Err(format!("{serial} is older than what was committed before the read began: {least:?}")),
                    false => Ok(()),
                }
            }
            None => {
                let deleted = entries.range(least.write + 1..).any(|(_, entry)| entry.deletes);
                match least.write == 0 || deleted {
                    true => Ok(()),
                    false => Err(format!("found no cells, expected a committed write: {least:?}")),
                }
            }
        }
    }

    /// Returns the number of commits.
    #[must_use]
    pub fn count(&self) -> usize {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.values().filter(|entry| entry.is_committed).count()
    }
}
