//! What was committed and when, so that each read can be judged.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What has been begun, by serial number; the greater one counts, whoever was first.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<BTreeMap<u64, Entry>>);

#[derive(Clone, Copy, Debug)]
struct Entry {
    deletes: bool,
    is_committed: bool,
}

/// What was committed when a read began, which it must not miss.
#[derive(Clone, Copy, Debug, Default)]
pub struct Least {
    write: u64,
    delete: u64,
}

impl Ledger {
    /// The next serial number, of a write or of a delete of all that was written before.
    pub fn begin(&self, deletes: bool) -> u64 {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let serial = entries.len() as u64 + 1;
        entries.insert(serial, Entry { deletes, is_committed: false });
        serial
    }

    /// It was committed.
    pub fn committed(&self, serial: u64) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.get_mut(&serial) {
            entry.is_committed = true;
        }
    }

    /// What must not be missed from now on; to be asked before a read begins.
    #[must_use]
    pub fn least(&self) -> Least {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = |deletes: bool| {
            let mut of_kind = entries.iter().rev().filter(|(_, entry)| entry.is_committed && entry.deletes == deletes);
            of_kind.next().map_or(0, |(serial, _)| *serial)
        };
        Least { write: last(false), delete: last(true) }
    }

    /// Whether a read that began then may see this write, or nothing.
    ///
    /// # Errors
    /// Why it may not.
    pub fn may_see(&self, least: Least, seen: Option<u64>) -> Result<(), String> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match seen {
            Some(serial) => {
                let entry = entries.get(&serial).ok_or_else(|| format!("{serial} was never written"))?;
                if entry.deletes || serial < least.delete {
                    return Err(format!("{serial} was deleted before the read began: {least:?}"));
                }
                // Deletes take all that was written before them, so that no older one comes back.
                match serial < least.write {
                    true => Err(format!("{serial} is older than what was committed before the read began: {least:?}")),
                    false => Ok(()),
                }
            }
            None => {
                let deleted = entries.range(least.write + 1..).any(|(_, entry)| entry.deletes);
                match least.write == 0 || deleted {
                    true => Ok(()),
                    false => Err(format!("nothing is there: {least:?}")),
                }
            }
        }
    }

    /// How many were committed.
    #[must_use]
    pub fn count(&self) -> usize {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.values().filter(|entry| entry.is_committed).count()
    }
}
