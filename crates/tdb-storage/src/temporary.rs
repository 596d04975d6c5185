//! Names of temporary files.

/// Prefix of a temporary file's name.
pub(crate) const TEMPORARY_PREFIX: &str = ".tdb-";
/// Suffix of a temporary file's name.
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

/// Returns `true` if the name is that of a temporary file: left by a crash, or part of a write in
/// progress. See [`Storage::create_new`](crate::Storage::create_new).
///
/// ```
/// assert!(tdb_storage::is_temporary(".tdb-4711-0.tmp"));
/// assert!(!tdb_storage::is_temporary("__1_1_f00d"));
/// ```
#[must_use]
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX)
}
