//! Cases under way.

use std::time::Instant;

/// A case that is being run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    pub(super) index: u64,
    /// When it began, or a smaller one in its place.
    pub(super) began: Instant,
    /// Whether the case is there, and not only its index.
    pub(super) is_made: bool,
    /// Whether it has failed, and smaller ones are tried.
    pub(super) has_failed: bool,
}
