//! Deletes that lie in other files.

use std::sync::Arc;

/// A delete commit in a file of consolidated commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedDelete {
    /// The path of the file that it lies in.
    pub file: Arc<str>,
    /// What would stand in its own file.
    pub bytes: Arc<[u8]>,
}
