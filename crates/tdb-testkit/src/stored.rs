//! The files of a storage.

use std::collections::BTreeMap;

use tdb_storage::{EntryKind, Storage};

/// Joins a folder and a path below it. Either may be empty.
pub(crate) fn joined(folder: &str, path: &str) -> String {
    match (folder, path) {
        ("", only) | (only, "") => only.to_owned(),
        (folder, path) => format!("{folder}/{path}"),
    }
}

/// Returns all files of a storage by path.
///
/// # Panics
///
/// If the storage fails.
pub fn files_of(storage: &dyn Storage) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in storage.list(&folder).unwrap_or_else(|error| panic!("{error}")) {
            let path = joined(&folder, &entry.name);
            match entry.kind {
                EntryKind::Folder => folders.push(path),
                EntryKind::File => {
                    let bytes = storage.read(&path).unwrap_or_else(|error| panic!("{error}"));
                    files.insert(path, bytes);
                }
            }
        }
    }
    files
}

/// Copies all files of a storage into another storage, and creates their folders.
///
/// # Panics
///
/// If a storage fails.
pub fn copy_files(from: &dyn Storage, to: &dyn Storage) {
    for (path, bytes) in files_of(from) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let copied = to.create_folder(folder).and_then(|()| to.create_new(&path, &bytes));
        copied.unwrap_or_else(|error| panic!("{error}"));
    }
}
