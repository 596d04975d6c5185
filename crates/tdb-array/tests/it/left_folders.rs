//! Empty folders, still listed by a store.

use std::sync::Arc;

use tdb_array::{Array, ArrayError, ArrayOptions, CreateOptions, Group, GroupOptions};
use tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
use tdb_storage::{Entry, EntryKind, MemoryStorage, ReadProfile, Result, Storage, StorageError, forward_storage};
use tdb_types::Datatype;

/// A storage with folders in the listing that cannot be listed themselves.
#[derive(Debug)]
struct Naming {
    inner: Arc<dyn Storage>,
    folders: &'static [&'static str],
    profile: ReadProfile,
}

impl Storage for Naming {
    forward_storage!(|this| this.inner => open, open_sized, kind, sub, describe, uri);
    forward_storage!(|this| this.inner => create_folder, create_new, create_file, sync_folder, remove_file, remove_folder);

    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        let files = match self.inner.list(folder) {
            Ok(entries) if entries.is_empty() && !folder.is_empty() => {
                return Err(StorageError::NotFound { path: self.describe(folder) });
            }
            listed => listed?,
        };
        let is_left = |entry: &Entry| {
            entry.kind == EntryKind::File || self.inner.list(&entry.name).is_ok_and(|in_it| !in_it.is_empty())
        };
        let mut entries: Vec<_> = files.into_iter().filter(|entry| !folder.is_empty() || is_left(entry)).collect();
        if folder.is_empty() {
            let missing = self.folders.iter().filter(|name| entries.iter().all(|entry| entry.name != **name));
            let missing: Vec<_> = missing.map(|name| Entry::folder(*name)).collect();
            entries.extend(missing);
            entries.sort_by(|a, b| a.name.cmp(&b.name));
        }
        Ok(entries)
    }

    fn profile(&self) -> ReadProfile {
        self.profile
    }
}

const FOLDERS: &[&str] = &["__commits", "__fragment_meta", "__fragments", "__labels", "__meta", "__schema"];

fn definition() -> ArrayDefinition {
    let x = Dimension::new("x", 0i32..=9).with_tile(10);
    let schema = SchemaBuilder::dense().dimension(x).attribute(Attribute::new("a", Datatype::Int32)).build().unwrap();
    ArrayDefinition::new(schema).unwrap()
}

fn naming(inner: &Arc<dyn Storage>, folders: &'static [&'static str], profile: ReadProfile) -> Arc<dyn Storage> {
    Arc::new(Naming { inner: inner.clone(), folders, profile })
}

const STORE: ReadProfile = ReadProfile::new(0, 1 << 20, 8);

#[test]
fn listed_but_missing_folders_are_empty() {
    let inner: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let store = naming(&inner, FOLDERS, STORE);
    // An array with folders of a deleted array.
    CreateOptions::new().create_on(&store, definition()).unwrap();
    let array: Array = ArrayOptions::new().open_on(store).unwrap();
    assert!(array.fragments().unwrap().is_empty() && array.listing().unwrap().commits.is_empty());
    assert_eq!(array.metadata().unwrap().len(), 0);
}

#[test]
fn groups_without_members_are_groups() {
    let inner: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    inner.create_new("__tiledb_group.tdb", b"").unwrap();
    let group: Group = GroupOptions::new().open_on(naming(&inner, &["__group", "__meta"], STORE)).unwrap();
    assert!(group.members().is_empty());
}

/// On local storage, a listed folder must exist.
#[test]
fn missing_local_folders_are_errors() {
    let inner: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    CreateOptions::new().create_on(&inner, definition()).unwrap();
    let error = ArrayOptions::new().open_on(naming(&inner, &["__commits"], ReadProfile::LOCAL)).unwrap_err();
    assert!(matches!(error, ArrayError::Storage(StorageError::NotFound { .. })), "{error}");
}
