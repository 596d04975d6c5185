//! Orphaned files of interrupted writes.

use std::collections::HashSet;

use tdb_metadata::CommitKind;
use tdb_snapshot::{ArrayError, Result, Snapshot, load_schema};
use tdb_storage::{Entry, EntryKind, Storage, StorageError, check_path, is_temporary};
use tdb_types::names::{
    COMMITS_FOLDER, DATA_EXTENSION, ENUMERATIONS_FOLDER, FOOTERS_EXTENSION, FRAGMENTS_FOLDER, LEGACY_SCHEMA,
    METADATA_FOLDER, SCHEMA_FOLDER, file_name, is_of_maintenance,
};
use tdb_types::{Feature, TimestampedName};

/// An orphaned file or folder of an array. Readers ignore it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Path relative to the array.
    pub path: String,
    /// Kind of the entry: folder or file.
    pub kind: EntryKind,
    /// Description of the entry.
    pub what: &'static str,
    /// Paths of its files, relative to the array. For a file, only its own path.
    pub files: Vec<String>,
    /// Total bytes of the files.
    pub bytes: u64,
}

/// Description of an incomplete file.
const TEMPORARY: &str = "a file whose writing was interrupted";
/// Description of a fragment without a commit.
const UNCOMMITTED: &str = "a fragment without a commit, of an interrupted write or deletion";
/// Description of an enumeration without a schema.
const ENUMERATION: &str = "an enumeration that no schema refers to";

/// Finds the orphaned files of interrupted writes, sorted by path. Before its commit, a write in
/// progress looks the same as an interrupted write. Before you remove orphaned files, make sure
/// that no write is in progress, or check the age of the files.
///
/// # Errors
/// A folder cannot be listed, or a commit file or a schema cannot be read. Also fails if the array
/// has the folder `__fragments` with entries, but not the folder `__commits`.
pub fn leftovers(array: &Snapshot) -> Result<Vec<Leftover>> {
    let storage = &**array.storage();
    // List the fragments before the commits. A fragment that is committed between the two listings
    // is then recognized.
    let root = storage.list("")?;
    let fragments = list(storage, FRAGMENTS_FOLDER)?;
    let enumerations = format!("{SCHEMA_FOLDER}/{ENUMERATIONS_FOLDER}");
    let values = list(storage, &enumerations)?;
    let committed = committed_folders(array, &root)?;
    let named = if values.is_empty() { HashSet::new() } else { named_enumerations(array)? };

    let mut found = Vec::new();
    let file = |path: String, what, entry: &Entry| {
        let (files, bytes) = (vec![path.clone()], entry.size);
        Leftover { path, kind: EntryKind::File, what, files, bytes }
    };
    // Maintenance files stay. Without the lock file, two jobs could maintain the array at once.
    // Without the journal, an interrupted job could not be recovered. The next maintenance job
    // removes both.
    let is_interrupted =
        |entry: &&Entry| entry.kind == EntryKind::File && is_temporary(&entry.name) && !is_of_maintenance(&entry.name);
    found.extend(root.iter().filter(is_interrupted).map(|entry| file(entry.name.clone(), TEMPORARY, entry)));
    // If a folder of the array is on another disk, its temporary files are in that folder and not
    // in the root.
    for folder in [COMMITS_FOLDER, SCHEMA_FOLDER, &enumerations, METADATA_FOLDER] {
        let entries = list(storage, folder)?;
        let interrupted = entries.iter().filter(is_interrupted);
        found.extend(interrupted.map(|entry| file(format!("{folder}/{}", entry.name), TEMPORARY, entry)));
    }
    let unnamed = values
        .iter()
        .filter(|entry| entry.kind == EntryKind::File && !named.contains(&entry.name) && !is_temporary(&entry.name));
    found.extend(unnamed.map(|entry| file(format!("{enumerations}/{}", entry.name), ENUMERATION, entry)));

    let in_root = root.iter().filter(|entry| is_fragment(&entry.name)).map(|entry| (entry, entry.name.clone()));
    let in_folder = fragments.iter().map(|entry| (entry, format!("{FRAGMENTS_FOLDER}/{}", entry.name)));
    for (entry, path) in in_root.chain(in_folder) {
        let of_fragment = entry.kind == EntryKind::Folder && TimestampedName::parse(&entry.name).is_some();
        if of_fragment && !committed.contains(&path) {
            let files = list(storage, &path)?;
            // Some stores still list folders whose files are all deleted.
            let is_gone = files.is_empty() && storage.profile().is_remote();
            if is_gone || !files.iter().all(is_data_file) {
                continue;
            }
            let bytes = files.iter().fold(0, |bytes: u64, file| bytes.saturating_add(file.size));
            let files = files.into_iter().map(|file| format!("{path}/{}", file.name)).collect();
            found.push(Leftover { path, kind: EntryKind::Folder, what: UNCOMMITTED, files, bytes });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Removes the given files and folders that are still orphaned. Skips missing entries, and entries
/// committed in the meantime. Returns the removed entries.
///
/// # Errors
/// See [`leftovers`](leftovers). Also fails if an entry cannot be removed. Other entries may then
/// already be removed.
pub fn remove_leftovers(array: &Snapshot, leftovers: &[Leftover]) -> Result<Vec<Leftover>> {
    let still: HashSet<String> = self::leftovers(array)?.into_iter().map(|leftover| leftover.path).collect();
    let mut gone = Vec::new();
    for leftover in leftovers.iter().filter(|leftover| still.contains(&leftover.path)) {
        let removed = match leftover.kind {
            EntryKind::File => array.storage().remove_file(&leftover.path),
            EntryKind::Folder => array.storage().remove_folder(&leftover.path),
        };
        match removed {
            Ok(()) => gone.push(leftover.clone()),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(gone)
}

/// Returns the folders of all committed fragments, and of fragments that other libraries may
/// consider committed. An invalid commit file is no reason to delete cells.
fn committed_folders(array: &Snapshot, root: &[Entry]) -> Result<HashSet<String>> {
    let mut committed: HashSet<String> = array.fragment_files()?.into_iter().map(|files| files.entry.folder).collect();
    let unsettled = consolidated_without_originals(array)?;
    let stem = |entry: &Entry| {
        let (stem, extension) = entry.name.rsplit_once('.')?;
        let may_commit = match CommitKind::of(&entry.name) {
            // A vacuum file lists the fragments replaced by a consolidated fragment, but does not
            // commit the consolidated fragment. If all replaced fragments are gone, the
            // consolidated fragment may be the only copy of the cells.
            Some(CommitKind::Vacuum) => unsettled.contains(stem),
            Some(kind) => kind == CommitKind::Write,
            None => extension != FOOTERS_EXTENSION,
        };
        may_commit.then(|| stem.to_owned())
    };
    let has = |folder: &str| root.iter().any(|entry| entry.name == folder && entry.kind == EntryKind::Folder);
    if has(COMMITS_FOLDER) {
        let commits = list(&**array.storage(), COMMITS_FOLDER)?;
        committed.extend(commits.iter().filter_map(stem).map(|stem| format!("{FRAGMENTS_FOLDER}/{stem}")));
    } else if has(FRAGMENTS_FOLDER) && !list(&**array.storage(), FRAGMENTS_FOLDER)?.is_empty() {
        let file = array.storage().describe(COMMITS_FOLDER);
        let what = "missing; the committed fragments are unknown".to_owned();
        return Err(ArrayError::Corrupt { file, what });
    }
    committed.extend(root.iter().filter_map(stem));
    Ok(committed)
}

/// Returns the names of consolidated fragments whose original fragments are all gone.
fn consolidated_without_originals(array: &Snapshot) -> Result<HashSet<String>> {
    let mut names = HashSet::new();
    for list in array.commit_inventory(&array.listing()?)?.vacuums {
        let mut is_there = false;
        for folder in &list.names {
            is_there |= check_path(folder).is_ok() && array.storage().exists(folder)?;
        }
        if let (false, Some(name)) = (is_there, TimestampedName::parse(file_name(&list.path))) {
            names.insert(name.as_str().to_owned());
        }
    }
    Ok(names)
}

/// Returns the file names of all enumerations that a schema of the array references.
fn named_enumerations(array: &Snapshot) -> Result<HashSet<String>> {
    let mut named = HashSet::new();
    let in_folder = list(&**array.storage(), SCHEMA_FOLDER)?
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::File && !is_temporary(&entry.name));
    let legacy = array.storage().exists(LEGACY_SCHEMA)?.then(|| LEGACY_SCHEMA.to_owned());
    for path in in_folder.map(|entry| format!("{SCHEMA_FOLDER}/{}", entry.name)).chain(legacy) {
        let schema = load_schema(&**array.storage(), &path, array.access())?;
        named.extend(schema.enumerations().iter().map(|reference| reference.file_name.clone()));
    }
    Ok(named)
}

/// Returns `true` if this folder in the array's root is a fragment of a format before 12.
fn is_fragment(name: &str) -> bool {
    let version = TimestampedName::parse(name).filter(|_| !name.contains('.')).map(|name| name.fragment_version());
    version.is_some_and(|version| version.is_ok_and(|version| !version.has(Feature::CommitsFolder)))
}

/// Returns `true` if an entry may be part of an uncommitted fragment. Folders with other files are
/// not removed, because another program may need these files.
fn is_data_file(entry: &Entry) -> bool {
    let extension = entry.name.rsplit_once('.').map(|(_, extension)| extension);
    entry.kind == EntryKind::File && (extension == Some(DATA_EXTENSION) || is_temporary(&entry.name))
}

/// Lists a folder. Returns an empty list if the folder does not exist.
fn list(storage: &dyn Storage, folder: &str) -> Result<Vec<Entry>> {
    match storage.list(folder) {
        Err(StorageError::NotFound { .. }) => Ok(Vec::new()),
        other => Ok(other?),
    }
}
