//! Detects if a store lists empty folders.

use std::sync::OnceLock;

use object_store::ListResult;
use object_store::path::Path;

/// `true` if the store lists empty folders. Determined after the first removal.
#[derive(Debug, Default)]
pub(crate) struct Emptied(OnceLock<bool>);

impl Emptied {
    /// Learns from a listing of a removed folder. Ignores the listing if someone has created a file
    /// in the folder meanwhile.
    pub(crate) fn learn(&self, folder: &Path, listed: &ListResult) {
        let is_there = !listed.objects.is_empty() || !listed.common_prefixes.is_empty();
        // Some stores list an empty folder as a file with the folder's name.
        if listed.objects.iter().all(|object| object.location == *folder) {
            let _ = self.0.set(is_there);
        }
    }

    /// Returns `true` if the behavior is known.
    pub(crate) fn is_known(&self) -> bool {
        self.0.get().is_some()
    }

    pub(crate) fn are_listed(&self) -> bool {
        self.0.get().copied().unwrap_or(false)
    }
}
