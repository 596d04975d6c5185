//! Names of files that are only there while something is written.

/// How the name of a temporary file begins.
pub(crate) const TEMPORARY_PREFIX: &str = ".tdb-";
/// How it ends.
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

/// Whether a file of this name was left by a crash, or is of a write that is going on: see
/// [`Storage::create_new`](crate::Storage::create_new).
///
/// ```
/// assert!(tdb_storage::is_temporary(".tdb-4711-0.tmp"));
/// assert!(!tdb_storage::is_temporary("__1_1_f00d"));
/// ```
#[must_use]
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX)
}
