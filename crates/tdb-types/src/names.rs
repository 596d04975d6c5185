//! The names of files and folders in arrays and groups.
//!
//! Those that carry a time are [`TimestampedName`](crate::TimestampedName)s. Data files are named by their field; the crate
//! `tdb-fragment` knows how.

/// Schemas, from format 10 on.
pub const SCHEMA_FOLDER: &str = "__schema";
/// The schema of an array that release 1.0 or 1.1 made, which no release reads any more.
pub const FIRST_SCHEMA: &str = "__array_metadata.tdb";
/// The schema of a key-value store, which releases 1.2 to 1.7 made apart from arrays.
pub const KEY_VALUE_SCHEMA: &str = "__kv_schema.tdb";
/// Enumerations, inside the folder of schemas.
pub const ENUMERATIONS_FOLDER: &str = "__enumerations";
/// The schema of formats 1 to 9.
pub const LEGACY_SCHEMA: &str = "__array_schema.tdb";
/// Fragments, from format 12 on.
pub const FRAGMENTS_FOLDER: &str = "__fragments";
/// Commits, from format 12 on.
pub const COMMITS_FOLDER: &str = "__commits";
/// Consolidated fragment metadata, from format 12 on.
pub const FRAGMENT_META_FOLDER: &str = "__fragment_meta";
/// The arrays of dimension labels, from format 18 on.
pub const LABELS_FOLDER: &str = "__labels";
/// Metadata of arrays and groups.
pub const METADATA_FOLDER: &str = "__meta";
/// The detail files of a group; a folder that has it is a group.
pub const GROUP_FOLDER: &str = "__group";
/// An empty file; a folder that has it is a group, and before release 2.8 nothing else said so.
pub const GROUP_MARKER: &str = "__tiledb_group.tdb";
/// An empty file that releases up to 2.6 locked while they consolidated.
pub const LOCK_FILE: &str = "__lock.tdb";
/// The metadata of a fragment, inside its folder.
pub const FRAGMENT_METADATA: &str = "__fragment_metadata.tdb";
/// The coordinates of a fragment of formats 1 to 4, and how metadata calls them afterwards. The file ends with
/// [`DATA_EXTENSION`].
pub const COORDINATES: &str = "__coords";

/// Data files.
pub const DATA_EXTENSION: &str = "tdb";
/// Consolidated fragment metadata.
pub const FOOTERS_EXTENSION: &str = "meta";
/// A committed fragment, from format 12 on.
pub const WRITE_EXTENSION: &str = "wrt";
/// A committed fragment of formats 5 to 11.
pub const OK_EXTENSION: &str = "ok";
/// Cells were deleted by a condition.
pub const DELETE_EXTENSION: &str = "del";
/// Cells were updated by a condition; described, but written by no release.
pub const UPDATE_EXTENSION: &str = "upd";
/// Commits gathered in one file.
pub const CONSOLIDATED_EXTENSION: &str = "con";
/// Gathered commits to ignore.
pub const IGNORE_EXTENSION: &str = "ign";
/// What a consolidated fragment or metadata file replaces.
pub const VACUUM_EXTENSION: &str = "vac";

/// Says who maintains an array or group while somebody does. Like all files of maintenance it lies beside them, and is named so
/// that readers pass it over: as a temporary file, and without an underscore, which some releases of the reference library
/// would take for a fragment's.
pub const MAINTENANCE_LOCK: &str = ".tdb-maintain.tmp";
/// How the names of files begin that say who takes over the lock of somebody dead.
pub const TAKEOVER_PREFIX: &str = ".tdb-takeover-";
/// How the names of files begin that say what is about to be done with several others.
pub const JOURNAL_PREFIX: &str = ".tdb-journal-";
/// How the names of all files of maintenance end.
pub const MAINTENANCE_SUFFIX: &str = ".tmp";

/// Whether a file of this name is one of maintenance. It is no leftover, although it is named as a temporary file: whoever
/// maintains the array next removes it, or goes on from there.
///
/// ```
/// use tdb_types::names::{MAINTENANCE_LOCK, is_of_maintenance};
///
/// assert!(is_of_maintenance(MAINTENANCE_LOCK) && is_of_maintenance(".tdb-journal-1122.tmp"));
/// assert!(!is_of_maintenance(".tdb-4711-0.tmp"));
/// ```
#[must_use]
pub fn is_of_maintenance(name: &str) -> bool {
    let has_prefix = || name.starts_with(JOURNAL_PREFIX) || name.starts_with(TAKEOVER_PREFIX);
    name == MAINTENANCE_LOCK || name.ends_with(MAINTENANCE_SUFFIX) && has_prefix()
}

/// The last component of a path or URI.
#[must_use]
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
