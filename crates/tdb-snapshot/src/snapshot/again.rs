//! Reopening of an array. The folders are listed again, and unchanged files are not read again.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use tdb_schema::{ArraySchema, Enumeration};
use tdb_storage::Storage;
use tdb_types::names::LEGACY_SCHEMA;

use super::deletes::Delete;
use super::fragments::differs_in_space;
use super::seen::{Seen, listed_size};
use super::{Inner, Snapshot};
use crate::directory::Listing;
use crate::{ArrayDirectory, Fragment};

/// Parts of an earlier snapshot that are still valid.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// By folder.
    pub(super) fragments: HashMap<String, Fragment>,
    pub(super) enumerations: HashMap<String, Arc<Enumeration>>,
    pub(super) deletes: OnceLock<Arc<[Delete]>>,
}

impl Snapshot {
    /// Returns the schema if the schema file at `path` is unchanged.
    pub(super) fn same_schema(&self, path: &str, listing: &Listing) -> Option<Arc<ArraySchema>> {
        let is_same = self.schema_path() == path && self.inner.seen.schema_size == listed_size(listing, path);
        // The legacy file name has no timestamp, so an equal name proves nothing.
        (is_same && path != LEGACY_SCHEMA).then(|| self.schema().clone())
    }

    /// Returns the parts of this snapshot that are still valid with another directory and schema.
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

/// Returns the fragments that are still in effect, with all their cached sections.
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
    // The array now has another schema. Loading the fragments again reports the conflict.
    if schemas.iter().any(|known| differs_in_space(known, schema).is_some()) {
        return HashMap::new();
    }
    kept
}

/// Returns the enumerations that the schema still maps to the same files.
fn kept_enumerations(last: &Inner, schema: &ArraySchema) -> HashMap<String, Arc<Enumeration>> {
    let file = |schema: &ArraySchema, name: &str| {
        let found = schema.enumerations().iter().find(|reference| reference.name == name);
        found.map(|reference| reference.file_name.clone())
    };
    let known = last.enumerations.lock().map(|known| known.clone()).unwrap_or_default();
    let is_same = |name: &String| file(&last.schema, name).is_some_and(|own| Some(own) == file(schema, name));
    known.into_iter().filter(|(name, _)| is_same(name)).collect()
}

impl Fragment {
    /// Returns `true` if the metadata file still has the size that it had at opening. A fragment
    /// never changes, but a copy of another fragment may have replaced the fragment. On a remote
    /// storage the size is not checked: the fragment's unique name suffices.
    pub(super) fn is_unchanged(&self, storage: &dyn Storage) -> bool {
        match self.metadata_size() {
            Some((path, size)) if !storage.profile().is_remote() => {
                storage.file_size(path).is_ok_and(|found| found == Some(size))
            }
            _ => true,
        }
    }
}
