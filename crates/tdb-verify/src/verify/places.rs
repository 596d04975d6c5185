//! What was looked at already.

use std::collections::HashSet;

use tdb_storage::Storage;

/// Places that were looked at: none is twice, though a group and its folder may both lead there.
#[derive(Debug, Default)]
pub(super) struct Places {
    seen: HashSet<String>,
}

impl Places {
    /// Whether nobody has looked at this place before.
    pub(super) fn is_new(&mut self, storage: &dyn Storage) -> bool {
        // A URI is the place without links, of which one may lead back to a folder around it.
        self.seen.insert(storage.uri("").unwrap_or_else(|| storage.describe("")))
    }
}
