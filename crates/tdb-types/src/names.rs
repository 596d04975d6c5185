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

/// The last component of a path or URI.
#[must_use]
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
