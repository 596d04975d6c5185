//! Files that belong together. The last file makes the others valid.

use std::sync::Arc;

use tdb_snapshot::Result;
use tdb_storage::Storage;

/// New folders and files. They are removed on drop as far as possible, unless [`keep`](Self::keep)
/// was called.
#[derive(Debug)]
pub(super) struct NewFiles {
    storage: Arc<dyn Storage>,
    made: Vec<Made>,
}

#[derive(Debug)]
enum Made {
    /// Removed only if empty, because other programs may have added files.
    Folder(String),
    /// A folder that no other program uses. Removed with all its content.
    Tree(String),
    File(String),
}

impl NewFiles {
    pub(super) fn new(storage: &Arc<dyn Storage>) -> Self {
        Self { storage: Arc::clone(storage), made: Vec::new() }
    }

    /// Creates a folder unless it exists. The parent folder must exist.
    pub(super) fn folder(&mut self, path: &str) -> Result<()> {
        if !self.storage.exists(path)? {
            self.storage.create_folder(path)?;
            self.made.push(Made::Folder(path.to_owned()));
        }
        Ok(())
    }

    /// Creates a folder that no other program uses.
    pub(super) fn tree(&mut self, path: &str) -> Result<()> {
        self.storage.create_folder(path)?;
        self.made.push(Made::Tree(path.to_owned()));
        Ok(())
    }

    /// Creates a file in an existing folder.
    pub(super) fn file(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        self.storage.create_new(path, bytes)?;
        self.made.push(Made::File(path.to_owned()));
        Ok(())
    }

    /// Keeps the created files.
    pub(super) fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for NewFiles {
    fn drop(&mut self) {
        while let Some(made) = self.made.pop() {
            // The error cannot be reported. The remaining files have no effect.
            let _ = match made {
                Made::Folder(path) if self.storage.list(&path).is_ok_and(|entries| !entries.is_empty()) => Ok(()),
                Made::Folder(path) | Made::Tree(path) => self.storage.remove_folder(&path),
                Made::File(path) => self.storage.remove_file(&path),
            };
        }
    }
}
