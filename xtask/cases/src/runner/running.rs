//! Running cases.

use std::time::Instant;

/// A running case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    pub(super) index: u64,
    /// Start of the case, or of a smaller case during shrinking.
    pub(super) began: Instant,
    /// `true` if the case has been generated.
    pub(super) is_made: bool,
    /// `true` if the case has failed and is being shrunk.
    pub(super) has_failed: bool,
}
