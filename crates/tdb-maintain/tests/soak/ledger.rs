//! What was committed and when, so that each read can be judged.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What has been begun, by serial number; the greater one counts, whoever was first.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Mutex<BTreeMap<u64, Entry>>);

#[derive(Clone, Copy, Debug)]
struct Entry {
    deletes: bool,
    is_committed: bool,
}

/// What was committed when a read began, which it must not miss.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Least {
    write: u64,
    delete: u64,
}

impl Ledger {
    /// The next serial number, of a write or of a delete of all that was written before.
    pub(crate) fn begin(&self, deletes: bool) -> u64 {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let serial = entries.len() as u64 + 1;
        entries.insert(serial, Entry { deletes, is_committed: false });
        serial
    }

    pub(crate) fn committed(&self, serial: u64) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.get_mut(&serial) {
            entry.is_committed = true;
        }
    }

    /// To be asked before a read begins.
    pub(crate) fn least(&self) -> Least {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = |deletes: bool| {
            let mut of_kind = entries.iter().rev().filter(|(_, entry)| entry.is_committed && entry.deletes == deletes);
            of_kind.next().map_or(0, |(serial, _)| *serial)
        };
        Least { write: last(false), delete: last(true) }
    }

    /// Whether a read that began then may see this write, or nothing.
    pub(crate) fn may_see(&self, least: Least, seen: Option<u64>) -> Result<(), String> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match seen {
            Some(serial) => {
                let entry = entries.get(&serial).ok_or_else(|| format!("{serial} was never written"))?;
                if entry.deletes || serial < least.delete {
                    return Err(format!("{serial} was deleted before the read began: {least:?}"));
                }
                let is_deleted = |after: u64| entries.range(after + 1..).any(|(_, entry)| entry.deletes);
                // An older one counts only if a newer one was deleted, which can't be: deletes take all before them.
                if serial < least.write && !is_deleted(least.write) {
                    return Err(format!("{serial} is older than what was committed before the read began: {least:?}"));
                }
                if serial < least.write {
                    return Err(format!("{serial} came back: {least:?}"));
                }
                Ok(())
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
    pub(crate) fn count(&self) -> usize {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.values().filter(|entry| entry.is_committed).count()
    }
}
