//! Listing of folders found in a parent's listing.

use tdb_storage::{Entry, Storage, StorageError};

type Listed = Result<Vec<Entry>, StorageError>;

/// Lists a folder found in the listing of the parent folder. On a remote storage, a missing folder
/// is empty.
///
/// # Errors
/// The folder cannot be listed.
pub fn list_named(storage: &dyn Storage, folder: &str) -> Listed {
    or_nothing(storage, storage.list(folder))
}

/// Maps a missing folder to an empty listing on a remote storage. Some stores still name a folder
/// in the parent's listing after all files of the folder are deleted.
pub(crate) fn or_nothing(storage: &dyn Storage, listed: Listed) -> Listed {
    match listed {
        Err(StorageError::NotFound { .. }) if storage.profile().is_remote() => Ok(Vec::new()),
        listed => listed,
    }
}
