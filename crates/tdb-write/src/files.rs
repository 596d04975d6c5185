//! Files that belong together; the last one makes the others count.

use std::sync::Arc;

use tdb_snapshot::Result;
use tdb_storage::Storage;

/// Makes folders and files one after the other, and removes them again, as far as possible, unless all came about.
#[derive(Debug)]
pub(super) struct NewFiles {
    storage: Arc<dyn Storage>,
    made: Vec<Made>,
}

#[derive(Debug)]
enum Made {
    /// Removed only while it is empty: others may have put something there.
    Folder(String),
    /// A folder that belongs to nobody else, with all that it holds.
    Tree(String),
    File(String),
}

impl NewFiles {
    pub(super) fn new(storage: &Arc<dyn Storage>) -> Self {
        Self { storage: Arc::clone(storage), made: Vec::new() }
    }

    /// Makes a folder, unless it is there; the one above it must be.
    pub(super) fn folder(&mut self, path: &str) -> Result<()> {
        if !self.storage.exists(path)? {
            self.storage.create_folder(path)?;
            self.made.push(Made::Folder(path.to_owned()));
        }
        Ok(())
    }

    /// Makes a folder that nobody else fills.
    pub(super) fn tree(&mut self, path: &str) -> Result<()> {
        self.storage.create_folder(path)?;
        self.made.push(Made::Tree(path.to_owned()));
        Ok(())
    }

    /// Makes a file in a folder that exists.
    pub(super) fn file(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        self.storage.create_new(path, bytes)?;
        self.made.push(Made::File(path.to_owned()));
        Ok(())
    }

    /// Keeps what was made.
    pub(super) fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for NewFiles {
    fn drop(&mut self) {
        while let Some(made) = self.made.pop() {
            // There is no caller to report it to; what remains counts for nothing.
            let _ = match made {
                Made::Folder(path) if self.storage.list(&path).is_ok_and(|entries| !entries.is_empty()) => Ok(()),
                Made::Folder(path) | Made::Tree(path) => self.storage.remove_folder(&path),
                Made::File(path) => self.storage.remove_file(&path),
            };
        }
    }
}
