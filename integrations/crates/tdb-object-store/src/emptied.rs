//! Whether a store still lists folders that nothing is in any more.

use std::sync::OnceLock;

use object_store::ListResult;
use object_store::path::Path;

/// Whether a store still lists folders that nothing is in any more: seen when the first one was removed.
#[derive(Debug, Default)]
pub(crate) struct Emptied(OnceLock<bool>);

impl Emptied {
    /// What a listing shows of a folder that was removed; nothing, if somebody has put something there meanwhile.
    pub(crate) fn learn(&self, folder: &Path, listed: &ListResult) {
        let is_there = !listed.objects.is_empty() || !listed.common_prefixes.is_empty();
        // An empty folder may be listed as a file of its own name.
        if listed.objects.iter().all(|object| object.location == *folder) {
            let _ = self.0.set(is_there);
        }
    }

    /// Whether that is known yet.
    pub(crate) fn is_known(&self) -> bool {
        self.0.get().is_some()
    }

    pub(crate) fn are_listed(&self) -> bool {
        self.0.get().copied().unwrap_or(false)
    }
}
