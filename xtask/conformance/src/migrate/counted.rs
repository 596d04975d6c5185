//! What is counted of the cases, and stands in the columns of the table.

/// Arrays that we migrated.
pub(super) const MIGRATED: &str = "migrated";
/// Arrays of which the format can't say something.
pub(super) const REFUSED: &str = "rightly refused";
/// Arrays among the migrated ones that left their history behind.
pub(super) const FLATTENED: &str = "without history";
/// Arrays among them that got other tiles, orders or filters.
pub(super) const CHANGED: &str = "changed";
/// Arrays among them whose like the release might not have made.
pub(super) const ALL_OTHERS: &str = "made without regard to the release";
/// Times at which the release read the new array.
pub(super) const OLDER: &str = "times read by the release";
/// The same of the newest.
pub(super) const NEWEST: &str = "times read by 2.30.0";
/// The same of the array that was migrated back.
pub(super) const BACK: &str = "times read after the way back";
/// Times at which the release gets an array of its own wrong, too.
pub(super) const NEITHER: &str = "reads its own no better";
