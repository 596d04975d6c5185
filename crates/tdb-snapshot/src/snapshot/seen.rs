//! Files seen when an array was opened.

use tdb_storage::{Entry, EntryKind};
use tdb_types::names::{COMMITS_FOLDER, SCHEMA_FOLDER, file_name};

use crate::ArrayDirectory;
use crate::directory::Listing;

/// Files that define the array's contents, as seen at opening. Serves to detect changes in a later
/// listing.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// The size of the schema file in bytes. `None` if the file was not listed.
    pub(super) schema_size: Option<u64>,
    /// The files that list others, with their contents.
    files: Vec<(String, Vec<u8>)>,
    /// The delete commits with separate files, each with the size of the file in bytes.
    pub(super) deletes: Vec<(String, u64)>,
}

impl Seen {
    /// Records the files of a listing, after `read_small`.
    pub(super) fn of(listing: &Listing, schema_path: &str, directory: &ArrayDirectory) -> Self {
        let size = |path: &String| Some((path.clone(), listed_size(listing, path)?));
        Self {
            schema_size: listed_size(listing, schema_path),
            files: listing.commit_files.clone(),
            deletes: directory.deletes.iter().filter_map(size).collect(),
        }
    }

    /// Returns the files that a listing needs and that are unchanged.
    pub(super) fn files_of(&self, listing: &Listing) -> Vec<(String, Vec<u8>)> {
        let is_same = |(path, bytes): &&(String, Vec<u8>)| listed_size(listing, path) == Some(bytes.len() as u64);
        self.files.iter().filter(is_same).cloned().collect()
    }
}

/// Returns the size of a file in the array's own folder, or in the folder of schemas or commits.
/// Returns `None` if the file is not listed.
pub(super) fn listed_size(listing: &Listing, path: &str) -> Option<u64> {
    let entries = match path.split_once('/') {
        None => &listing.root,
        Some((SCHEMA_FOLDER, _)) => &listing.schemas,
        Some((COMMITS_FOLDER, _)) => &listing.commits,
        Some(_) => return None,
    };
    let name = file_name(path);
    // Storages list names in order. An unsorted listing is handled too.
    let is_it = |entry: &&Entry| entry.name == name && entry.kind == EntryKind::File;
    let found = match entries.binary_search_by(|entry| entry.name.as_str().cmp(name)) {
        Ok(place) => entries.get(place).filter(is_it),
        Err(_) => entries.iter().find(is_it),
    };
    found.map(|entry| entry.size)
}
