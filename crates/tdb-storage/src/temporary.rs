//! Names of temporary files.

/// Prefix of a temporary file's name.
pub(crate) const TEMPORARY_PREFIX: &str = ".tdb-";
/// Suffix of a temporary file's name.
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

/// Returns `true` for names of temporary files, which belong to a write in progress or were left by
/// a crash (see [`Storage::create_new`](crate::Storage::create_new)). Maintenance locks and
/// journals have such names too.
///
/// ```
/// assert!(tdb_storage::is_temporary(".tdb-4711-0.tmp"));
/// assert!(!tdb_storage::is_temporary("__1_1_f00d"));
/// ```
#[must_use]
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX)
}
