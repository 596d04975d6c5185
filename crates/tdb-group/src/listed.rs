//! Reuse of a fresh listing on a remote storage.

use std::sync::{Arc, Mutex, PoisonError};

use tdb_storage::{Entry, Result, Storage, forward_storage};

/// A storage that returns a known listing of the root to the first caller. The detection of the
/// kind and the opening of the object then need only one listing. Later calls list the root again.
#[derive(Debug)]
pub(super) struct Listed {
    inner: Arc<dyn Storage>,
    root: Mutex<Option<Vec<Entry>>>,
}

impl Listed {
    /// Wraps a remote storage. A local storage is returned unchanged.
    pub(super) fn wrap(inner: Arc<dyn Storage>, root: Vec<Entry>) -> Arc<dyn Storage> {
        if !inner.profile().is_remote() {
            return inner;
        }
        Arc::new(Self { inner, root: Mutex::new(Some(root)) })
    }
}

impl Storage for Listed {
    forward_storage!(|this| this.inner => open, open_sized, profile, fetch_one, fetch, fetch_each, kind, sub, describe, uri);
    forward_storage!(|this| this.inner => create_folder, create_new, create_file, sync_folder, remove_file);
    forward_storage!(|this| this.inner => remove_folder, rename);

    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        let known = match folder {
            "" => self.root.lock().unwrap_or_else(PoisonError::into_inner).take(),
            _ => None,
        };
        known.map_or_else(|| self.inner.list(folder), Ok)
    }
}
