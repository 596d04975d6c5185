//! Unfinished writes and consolidations, which are either running or interrupted.

use std::collections::HashSet;

use tdb_array::Array;
use tdb_storage::{Entry, EntryKind};
use tdb_types::names::{FRAGMENT_METADATA, FRAGMENTS_FOLDER, MAINTENANCE_LOCK};
use tdb_types::{Feature, TimestampedName};

use super::finding::{Finding, FindingKind, unreadable};
use tdb_job::journal::journals;
use tdb_job::list;
use tdb_job::lock::{is_held, is_held_here};

/// Reports journals of consolidations of fragments.
pub(super) fn check_journals(array: &Array, found: &mut Vec<Finding>) {
    let storage = &**array.storage();
    let journals = journals(storage).unwrap_or_else(|error| {
        found.push(unreadable(&storage.describe(""), &error));
        Vec::new()
    });
    for path in journals {
        let file = storage.describe(&path);
        // A living process will complete the consolidation.
        found.push(match is_held_here(storage) {
            true => Finding::note(FindingKind::Interrupted, file, "fragments are being consolidated"),
            false => {
                let what = "a consolidation is running or was interrupted: cells of an array with duplicates may be counted twice until `tdb vacuum` or `tdb consolidate` completes it or rolls it back";
                Finding::wrong(FindingKind::Interrupted, file, what)
            }
        });
    }
}

/// Reports folders of uncommitted fragments.
pub(super) fn check_commits(array: &Array, found: &mut Vec<Finding>) {
    let storage = &**array.storage();
    let directory = array.directory();
    let committed: HashSet<&str> =
        directory.fragments.iter().chain(&directory.replaced).map(|entry| entry.folder.as_str()).collect();
    for parent in ["", FRAGMENTS_FOLDER] {
        let entries = list(storage, parent).unwrap_or_else(|error| {
            found.push(unreadable(&storage.describe(parent), &error));
            Vec::new()
        });
        for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Folder) {
            let path = if parent.is_empty() { entry.name.clone() } else { format!("{parent}/{}", entry.name) };
            let Some(name) = TimestampedName::parse(&entry.name) else { continue };
            if !committed.contains(path.as_str()) {
                found.extend(uncommitted(array, &path, &name));
            }
        }
    }
}

/// Reports an uncommitted fragment. Returns `None` if it no longer exists.
fn uncommitted(array: &Array, path: &str, name: &TimestampedName) -> Option<Finding> {
    let storage = &**array.storage();
    let files = list(storage, path).ok();
    // Some object stores list folders whose files are all deleted.
    let is_empty = files.as_ref().is_some_and(Vec::is_empty);
    if is_empty && (storage.profile().is_remote() || !matches!(storage.exists(path), Ok(true))) {
        return None;
    }
    let folder = storage.describe(path);
    if files.is_some_and(|files| is_unwritten(&files, name)) {
        let what = "a fragment without metadata and commit: its write is in progress or was interrupted";
        return Some(Finding::note(FindingKind::Uncommitted, folder, what));
    }
    let is_of_maintenance = || name.start() < name.end() || is_replaced(array, path);
    if is_held(storage) && is_of_maintenance() {
        let what = format!(
            "no commit names this fragment, which a consolidation writes or a vacuum deletes: {MAINTENANCE_LOCK} shows that a job is running"
        );
        return Some(Finding::note(FindingKind::Uncommitted, folder, what));
    }
    let what = "no commit names this fragment: its commit is lost, or its write or deletion was interrupted";
    Some(Finding::wrong(FindingKind::Uncommitted, folder, what))
}

/// Returns `true` if a vacuum file lists the fragment.
fn is_replaced(array: &Array, path: &str) -> bool {
    let inventory = array.listing().and_then(|listing| array.commit_inventory(&listing));
    inventory.is_ok_and(|inventory| inventory.vacuums.iter().any(|list| list.names.iter().any(|name| name == path)))
}

/// Returns `true` if the fragment has no metadata, which a writer writes before the commit. Returns
/// `false` for formats before 12.
fn is_unwritten(files: &[Entry], name: &TimestampedName) -> bool {
    let has_commit = name.fragment_version().is_ok_and(|version| version.has(Feature::CommitsFolder));
    has_commit && !files.iter().any(|file| file.name == FRAGMENT_METADATA)
}
