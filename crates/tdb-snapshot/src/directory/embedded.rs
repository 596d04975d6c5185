//! Deletes stored in files of consolidated commits.

use std::sync::Arc;

/// A delete commit stored in a file of consolidated commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedDelete {
    /// The path of the containing file.
    pub file: Arc<str>,
    /// The bytes that a separate commit file would contain.
    pub bytes: Arc<[u8]>,
}
