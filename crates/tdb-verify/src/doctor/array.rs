//! Leftovers of interrupted writes in an array: files and folders that readers ignore.

use tdb_array::Array;
use tdb_storage::{EntryKind, is_temporary};
use tdb_types::names::{JOURNAL_PREFIX, MAINTENANCE_LOCK, is_of_maintenance};

use super::diagnosis::{Diagnosis, Remedy};
use super::locks;
use crate::verify::Severity;
use tdb_job::Result;
use tdb_job::list;

const OF_FILE: &str = "a write is in progress or was interrupted; readers ignore the file";
const OF_FRAGMENT: &str = "the fragment has no commit, or its deletion was interrupted; readers ignore it";
const OF_ENUMERATION: &str = "no schema names it, because an evolution was interrupted; readers ignore it";
const OF_JOURNAL: &str = "a consolidation was interrupted; complete fragments are committed, the others are deleted";

pub(super) fn look(array: &Array, found: &mut Vec<Diagnosis>) -> Result<()> {
    let storage = &**array.storage();
    for entry in list(storage, "")? {
        let is_file = entry.kind == EntryKind::File;
        if !is_of_maintenance(&entry.name) || !is_file && entry.name != MAINTENANCE_LOCK {
            continue;
        }
        found.push(match entry.name.starts_with(JOURNAL_PREFIX) {
            true => {
                let what = "the journal of an interrupted consolidation";
                Diagnosis::file(entry.name, entry.size, what, OF_JOURNAL).with(Remedy::Finish)
            }
            false => locks::look(storage, &entry)?,
        });
    }
    for leftover in array.leftovers()? {
        let why = match leftover.kind {
            EntryKind::File if is_temporary(leftover.path.rsplit('/').next().unwrap_or_default()) => OF_FILE,
            EntryKind::File => OF_ENUMERATION,
            EntryKind::Folder => OF_FRAGMENT,
        };
        found.push(Diagnosis {
            path: leftover.path,
            kind: leftover.kind,
            what: leftover.what,
            why: why.to_owned(),
            remedy: Remedy::Quarantine,
            // Only a fragment contains cells that a user may miss.
            severity: if leftover.kind == EntryKind::File { Severity::Note } else { Severity::Finding },
            files: leftover.files,
            bytes: leftover.bytes,
        });
    }
    Ok(())
}
