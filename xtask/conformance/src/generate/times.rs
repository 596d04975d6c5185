//! When cells are written.

/// The time of the first write; each further step comes ten milliseconds later.
pub(super) const FIRST_TIMESTAMP: u64 = 1_700_000_000_000;
