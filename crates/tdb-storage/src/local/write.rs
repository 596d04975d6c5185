//! Incremental writing of a file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

use super::durable::Durability;
use crate::{Result, StorageError, WriteFile};

/// A new file of a [`LocalStorage`](crate::LocalStorage). The file is removed if this value is
/// dropped before [`finish`](WriteFile::finish) succeeds.
#[derive(Debug)]
pub(super) struct LocalWriter {
    /// `None` after closing.
    file: Option<File>,
    path: PathBuf,
    durability: Durability,
}

impl LocalWriter {
    pub(super) fn new(file: File, path: PathBuf, durability: Durability) -> Self {
        Self { file: Some(file), path, durability }
    }

    #[cold]
    fn error(&self, error: io::Error) -> StorageError {
        StorageError::from_io(self.path.display().to_string(), error)
    }
}

impl WriteFile for LocalWriter {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(bytes).map_err(|error| self.error(error))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if let Some(file) = &self.file {
            // If this fails, `drop` removes the file.
            self.durability.sync_file(file).map_err(|error| self.error(error))?;
        }
        self.file = None;
        Ok(())
    }
}

impl Drop for LocalWriter {
    fn drop(&mut self) {
        // Closed before removal because some systems cannot delete open files.
        if self.file.take().is_some() {
            // The error is ignored: an orphaned file is never committed.
            let _ = fs::remove_file(&self.path);
        }
    }
}
