//! Opening an array once more: what lies in its folders is listed anew, and of what is still there nothing is read again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use tdb_schema::{ArraySchema, Enumeration};
use tdb_storage::{Entry, EntryKind, Storage};
use tdb_types::names::{COMMITS_FOLDER, LEGACY_SCHEMA, SCHEMA_FOLDER, file_name};

use super::deletes::Delete;
use super::fragments::differs_in_space;
use super::{Array, Inner};
use crate::directory::Listing;
use crate::{ArrayDirectory, Fragment};

/// What was seen of the files that say what an array consists of, to be told when they are listed again.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Bytes of the schema's file.
    schema_size: Option<u64>,
    /// The files that name others, with what is in them.
    files: Vec<(String, Vec<u8>)>,
    /// The delete commits that have files of their own, with the bytes of these.
    deletes: Vec<(String, u64)>,
}

/// What is known of an array that was open before, as far as it is still so.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// By their folders.
    pub(super) fragments: HashMap<String, Fragment>,
    pub(super) enumerations: HashMap<String, Arc<Enumeration>>,
    pub(super) deletes: OnceLock<Arc<[Delete]>>,
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
fn listed_size(listing: &Listing, path: &str) -> Option<u64> {
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

impl Array {
    /// The schema, if its file is still the same.
    pub(super) fn same_schema(&self, path: &str, listing: &Listing) -> Option<Arc<ArraySchema>> {
        let is_same = self.schema_path() == path && self.inner.seen.schema_size == listed_size(listing, path);
        // The name of the oldest formats says nothing of when it was written.
        (is_same && path != LEGACY_SCHEMA).then(|| self.schema().clone())
    }

    /// What of it holds for the same array with another directory and schema.
    pub(super) fn kept(&self, directory: &ArrayDirectory, schema: &Arc<ArraySchema>, seen: &Seen) -> Kept {
        let own = &*self.inner;
        let same_deletes = own.directory.deletes == directory.deletes
            && own.directory.embedded_deletes == directory.embedded_deletes
            && own.seen.deletes == seen.deletes;
        Kept {
            fragments: kept_fragments(own, directory, schema),
            enumerations: kept_enumerations(own, schema),
            deletes: if same_deletes { own.deletes.clone() } else { OnceLock::new() },
        }
    }
}

/// The fragments that still count, with all that was read of them.
fn kept_fragments(last: &Inner, directory: &ArrayDirectory, schema: &ArraySchema) -> HashMap<String, Fragment> {
    let loaded = last.fragments.get().map_or(&[][..], |loaded| &loaded.fragments);
    let all: HashMap<&str, &Fragment> =
        loaded.iter().chain(last.kept.values()).map(|fragment| (fragment.folder(), fragment)).collect();
    let kept = directory.fragments.iter().filter_map(|entry| {
        let fragment = all.get(entry.folder.as_str()).filter(|known| known.entry() == entry)?;
        Some((entry.folder.clone(), (*fragment).clone()))
    });
    let kept: HashMap<String, Fragment> = kept.collect();
    let mut schemas: Vec<&Arc<ArraySchema>> = Vec::new();
    for fragment in kept.values() {
        if !schemas.iter().any(|known| Arc::ptr_eq(known, fragment.schema())) {
            schemas.push(fragment.schema());
        }
    }
    // Another schema lies there now: loading them says what is wrong.
    if schemas.iter().any(|known| differs_in_space(known, schema).is_some()) {
        return HashMap::new();
    }
    kept
}

/// The enumerations that the schema still names by the same files.
fn kept_enumerations(last: &Inner, schema: &ArraySchema) -> HashMap<String, Arc<Enumeration>> {
    let file = |schema: &ArraySchema, name: &str| {
        let found = schema.enumerations().iter().find(|reference| reference.name == name);
        found.map(|reference| reference.file_name.clone())
    };
    let known = last.enumerations.lock().map(|known| known.clone()).unwrap_or_default();
    let is_same = |name: &String| file(&last.schema, name).is_some_and(|own| Some(own) == file(schema, name));
    known.into_iter().filter(|(name, _)| is_same(name)).collect()
}

impl Kept {
    /// Enumerations for an array to go on with.
    pub(super) fn take_enumerations(&mut self) -> Mutex<HashMap<String, Arc<Enumeration>>> {
        Mutex::new(std::mem::take(&mut self.enumerations))
    }
}

impl Fragment {
    /// Whether the file of its metadata is as long as it was when it was opened. A fragment never changes; but somebody may have copied
    /// another one to its place. Where answers take long nobody asks: its name, which no other fragment has, is believed.
    pub(super) fn is_unchanged(&self, storage: &dyn Storage) -> bool {
        match self.metadata_size() {
            Some((path, size)) if !storage.profile().is_remote() => {
                storage.file_size(path).is_ok_and(|found| found == Some(size))
            }
            _ => true,
        }
    }
}
