//! What is counted of the cases, and stands in the columns of the table.

/// Arrays that we made, whose files say what those of the release's own say.
pub(super) const CREATED: &str = "made by ours";
pub(super) const WRITES: &str = "writes by ours";
/// Writes among them whose fragments have the format of a release that kept none for later ones: 2 to 6.
pub(super) const FIRST_FORMATS: &str = "in formats 2 to 6";
/// Reads by the newest release.
pub(super) const NEWEST: &str = "reads by 2.30.0";
/// Reads by the older one.
pub(super) const OLDER: &str = "reads by the release";
/// Reads in which the older one gets what the newest wrote no better than what we wrote.
pub(super) const NEITHER: &str = "also rejects 2.30.0's";
pub(super) const GROUPS: &str = "groups";
pub(super) const LABELS: &str = "arrays with labels";
/// Fragments that we deleted.
pub(super) const DELETED: &str = "fragments deleted";
/// Reads of the past by the older release; they stand among its reads.
pub(super) const PAST: &str = "reads of the past";
/// Arrays that were vacuumed.
pub(super) const VACUUMED: &str = "vacuumed";
