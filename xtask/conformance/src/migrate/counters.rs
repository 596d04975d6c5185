//! Names of counters, and headings of their columns.

pub(super) const MIGRATED: &str = "migrated";
/// Arrays that the format cannot represent.
pub(super) const REFUSED: &str = "refused with reason";
/// Migrated arrays without their history.
pub(super) const FLATTENED: &str = "without history";
/// Migrated arrays with other tiles, orders or filters.
pub(super) const CHANGED: &str = "changed";
/// Migrated arrays that the release might not be able to create.
pub(super) const ALL_OTHERS: &str = "beyond the release";
/// Times at which the release read the new array.
pub(super) const OLDER: &str = "times read by the release";
/// Times at which the newest release read the new array.
pub(super) const NEWEST: &str = "times read by 2.30.0";
/// Times at which the newest release read the array after the migration back.
pub(super) const BACK: &str = "times read after migration back";
/// Times at which the release also misreads an array by the release itself.
pub(super) const NEITHER: &str = "also misreads its own array";
