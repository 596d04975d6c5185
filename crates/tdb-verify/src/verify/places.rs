//! The paths that are already verified.

use std::collections::HashSet;

use tdb_storage::Storage;

/// The verified paths. Each path is verified once, even if both a group and a folder lead to it.
#[derive(Debug, Default)]
pub(super) struct Places {
    seen: HashSet<String>,
}

impl Places {
    /// Returns `true` the first time a path is seen.
    pub(super) fn is_new(&mut self, storage: &dyn Storage) -> bool {
        // A link may lead to a parent folder. URIs contain no links, and therefore reveal such a
        // cycle.
        self.seen.insert(storage.uri("").unwrap_or_else(|| storage.describe("")))
    }
}
