//! Names of counters, and headings of their columns.

/// Arrays created by tdb with the same files as the release's arrays.
pub(super) const CREATED: &str = "created by tdb";
pub(super) const WRITES: &str = "writes by tdb";
/// Writes of fragments in the formats 2 to 6. No release writes these formats for later releases.
pub(super) const FIRST_FORMATS: &str = "in formats 2 to 6";
/// Reads by the newest release.
pub(super) const NEWEST: &str = "reads by 2.30.0";
/// Reads by the older release.
pub(super) const OLDER: &str = "reads by the release";
/// Reads in which the older release also fails on the array of the newest release.
pub(super) const NEITHER: &str = "also rejects the array of 2.30.0";
pub(super) const GROUPS: &str = "groups";
pub(super) const LABELS: &str = "arrays with labels";
/// Fragments deleted by tdb.
pub(super) const DELETED: &str = "fragments deleted";
/// Reads of the past by the older release, also counted as its reads.
pub(super) const PAST: &str = "reads of the past";
pub(super) const VACUUMED: &str = "vacuumed";
