//! Leftovers of interrupted writes in an array: files and folders that readers ignore.

use tdb_array::Array;
use tdb_storage::{EntryKind, is_temporary};
use tdb_types::names::{JOURNAL_PREFIX, MAINTENANCE_LOCK, is_of_maintenance};

use super::diagnosis::{Diagnosis, Remedy};
use super::locks;
use crate::verify::Severity;
use tdb_job::Result;
use tdb_job::list;

const OF_FILE: &str = "a writer was killed, or is at it; no reader looks at it";
const OF_FRAGMENT: &str = "it never came to count, or was on the way out; no reader looks at it";
const OF_ENUMERATION: &str = "the schema that would have named it was never written; no reader looks at it";
const OF_JOURNAL: &str = "joining fragments was interrupted; what was finished gets its place, the rest goes";

pub(super) fn look(array: &Array, found: &mut Vec<Diagnosis>) -> Result<()> {
    let storage = &**array.storage();
    for entry in list(storage, "")? {
        let is_file = entry.kind == EntryKind::File;
        if !is_of_maintenance(&entry.name) || !is_file && entry.name != MAINTENANCE_LOCK {
            continue;
        }
        found.push(match entry.name.starts_with(JOURNAL_PREFIX) {
            true => {
                let what = "the journal of fragments that were being joined";
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
            remedy: Remedy::SetAside,
            // A user may miss the cells of a fragment.
            severity: if leftover.kind == EntryKind::File { Severity::Note } else { Severity::Finding },
            files: leftover.files,
            bytes: leftover.bytes,
        });
    }
    Ok(())
}
