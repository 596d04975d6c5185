//! Folders that somebody has named.

use tdb_storage::{Entry, Storage, StorageError};

type Listed = Result<Vec<Entry>, StorageError>;

/// Lists a folder that the listing of its parent names.
pub fn list_named(storage: &dyn Storage, folder: &str) -> Listed {
    or_nothing(storage, storage.list(folder))
}

/// What came of listing such a folder. On a store a folder that isn't there is one that nothing is in: WebDAV servers have such folders, and
/// some stores go on naming those whose files have all gone.
pub(crate) fn or_nothing(storage: &dyn Storage, listed: Listed) -> Listed {
    match listed {
        Err(StorageError::NotFound { .. }) if storage.profile().is_remote() => Ok(Vec::new()),
        listed => listed,
    }
}
