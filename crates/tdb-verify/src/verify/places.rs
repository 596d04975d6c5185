//! Paths that are already verified.

use std::collections::HashSet;

use tdb_storage::Storage;

/// Verified paths. Each path is verified once, even if both a group and a folder lead there.
#[derive(Debug, Default)]
pub(super) struct Places {
    seen: HashSet<String>,
}

impl Places {
    /// Returns `true` the first time a path is seen.
    pub(super) fn is_new(&mut self, storage: &dyn Storage) -> bool {
        // A link may lead to a parent folder. URIs contain no links and reveal the cycle.
        self.seen.insert(storage.uri("").unwrap_or_else(|| storage.describe("")))
    }
}
