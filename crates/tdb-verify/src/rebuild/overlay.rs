//! A storage with one additional or replaced file, and without consolidated footers.

use std::sync::Arc;

use tdb_storage::{Entry, EntryKind, MemoryStorage, ReadAt, Result, Storage, StorageError, WriteFile, forward_storage};
use tdb_types::names::FOOTERS_EXTENSION;

/// A read-only storage that adds or replaces one file of another storage.
#[derive(Debug)]
pub(super) struct Overlay {
    below: Arc<dyn Storage>,
    path: String,
    file: MemoryStorage,
}

impl Overlay {
    pub(super) fn new(below: Arc<dyn Storage>, path: String, bytes: Vec<u8>) -> Result<Self> {
        let file = MemoryStorage::new();
        file.insert(&path, bytes)?;
        Ok(Self { below, path, file })
    }

    fn of(&self, path: &str) -> &dyn Storage {
        if path == self.path { &self.file } else { &*self.below }
    }

    fn refuse<T>(&self, path: &str) -> Result<T> {
        Err(StorageError::PermissionDenied { path: self.describe(path) })
    }
}

impl Storage for Overlay {
    forward_storage!(|this| this.below => profile, describe, uri, sub);

    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        let mut entries = self.below.list(folder)?;
        // Hide consolidated footers, because they describe the old metadata.
        entries.retain(|entry| !entry.name.ends_with(&format!(".{FOOTERS_EXTENSION}")));
        if let Some((parent, name)) = self.path.rsplit_once('/')
            && parent == folder
        {
            entries.retain(|entry| entry.name != name);
            entries.extend(self.file.list(folder)?);
            entries.sort_by(|a, b| a.name.cmp(&b.name));
        }
        Ok(entries)
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        self.of(path).open(path)
    }

    fn kind(&self, path: &str) -> Result<Option<EntryKind>> {
        self.of(path).kind(path)
    }

    fn create_folder(&self, folder: &str) -> Result<()> {
        self.refuse(folder)
    }

    fn create_new(&self, path: &str, _: &[u8]) -> Result<()> {
        self.refuse(path)
    }

    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        self.refuse(path)
    }

    fn sync_folder(&self, folder: &str) -> Result<()> {
        self.refuse(folder)
    }

    fn remove_file(&self, path: &str) -> Result<()> {
        self.refuse(path)
    }

    fn remove_folder(&self, folder: &str) -> Result<()> {
        self.refuse(folder)
    }
}
