//! What was seen of an array's files when it was opened.

use tdb_storage::{Entry, EntryKind};
use tdb_types::names::{COMMITS_FOLDER, SCHEMA_FOLDER, file_name};

use crate::ArrayDirectory;
use crate::directory::Listing;

/// What was seen of the files that say what an array consists of, to be told when they are listed again.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Bytes of the schema's file.
    pub(super) schema_size: Option<u64>,
    /// The files that name others, with what is in them.
    files: Vec<(String, Vec<u8>)>,
    /// The delete commits that have files of their own, with the bytes of these.
    pub(super) deletes: Vec<(String, u64)>,
}

impl Seen {
    /// Notes what a listing shows, once what it names has been read.
    pub(super) fn of(listing: &Listing, schema_path: &str, directory: &ArrayDirectory) -> Self {
        let size = |path: &String| Some((path.clone(), listed_size(listing, path)?));
        Self {
            schema_size: listed_size(listing, schema_path),
            files: listing.commit_files.clone(),
            deletes: directory.deletes.iter().filter_map(size).collect(),
        }
    }

    /// Those of the files that a listing wants which are the same as they were.
    pub(super) fn files_of(&self, listing: &Listing) -> Vec<(String, Vec<u8>)> {
        let is_same = |(path, bytes): &&(String, Vec<u8>)| listed_size(listing, path) == Some(bytes.len() as u64);
        self.files.iter().filter(is_same).cloned().collect()
    }
}

/// Bytes of a file of the array's own folder, or of those of schemas and commits.
pub(super) fn listed_size(listing: &Listing, path: &str) -> Option<u64> {
    let entries = match path.split_once('/') {
        None => &listing.root,
        Some((SCHEMA_FOLDER, _)) => &listing.schemas,
        Some((COMMITS_FOLDER, _)) => &listing.commits,
        Some(_) => return None,
    };
    let name = file_name(path);
    // Storages list names in order, but nobody relies on it.
    let is_it = |entry: &&Entry| entry.name == name && entry.kind == EntryKind::File;
    let found = match entries.binary_search_by(|entry| entry.name.as_str().cmp(name)) {
        Ok(place) => entries.get(place).filter(is_it),
        Err(_) => entries.iter().find(is_it),
    };
    found.map(|entry| entry.size)
}
