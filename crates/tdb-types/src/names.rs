//! Names of files and folders in arrays and groups.
//!
//! Names with a timestamp are [`TimestampedName`](crate::TimestampedName)s. The crate
//! `tdb-fragment` derives the names of data files from their fields.

/// The folder of schemas, from format 10 on.
pub const SCHEMA_FOLDER: &str = "__schema";
/// The schema file of arrays written by releases 1.0 and 1.1. No later release reads these arrays.
pub const FIRST_SCHEMA: &str = "__array_metadata.tdb";
/// The schema file of a key-value store. Releases 1.2 to 1.7 offered key-value stores in addition
/// to arrays.
pub const KEY_VALUE_SCHEMA: &str = "__kv_schema.tdb";
/// The folder of enumerations, inside the folder of schemas.
pub const ENUMERATIONS_FOLDER: &str = "__enumerations";
/// The schema file of formats 1 to 9.
pub const LEGACY_SCHEMA: &str = "__array_schema.tdb";
/// The folder of fragments, from format 12 on.
pub const FRAGMENTS_FOLDER: &str = "__fragments";
/// The folder of commits, from format 12 on.
pub const COMMITS_FOLDER: &str = "__commits";
/// The folder of consolidated fragment metadata, from format 12 on.
pub const FRAGMENT_META_FOLDER: &str = "__fragment_meta";
/// The folder with the arrays that store dimension labels, from format 18 on.
pub const LABELS_FOLDER: &str = "__labels";
/// The folder of array or group metadata.
pub const METADATA_FOLDER: &str = "__meta";
/// The folder of group details. A folder that contains it is a group.
pub const GROUP_FOLDER: &str = "__group";
/// An empty file that marks a folder as a group. Before release 2.8, groups had no other mark.
pub const GROUP_MARKER: &str = "__tiledb_group.tdb";
/// An empty file in an array, which releases up to 2.6 locked during changes such as consolidation.
pub const LOCK_FILE: &str = "__lock.tdb";
/// The metadata file inside a fragment's folder.
pub const FRAGMENT_METADATA: &str = "__fragment_metadata.tdb";
/// The data file of combined coordinates, in fragments of formats 1 to 4. The constant omits the
/// extension [`DATA_EXTENSION`].
pub const COORDINATES: &str = "__coords";

/// Extension of data files.
pub const DATA_EXTENSION: &str = "tdb";
/// Extension of consolidated fragment metadata.
pub const FOOTERS_EXTENSION: &str = "meta";
/// Extension of a commit file, from format 12 on.
pub const WRITE_EXTENSION: &str = "wrt";
/// Extension of a commit file of formats 5 to 11.
pub const OK_EXTENSION: &str = "ok";
/// Extension of a delete commit, which stores the condition that selects the deleted cells.
pub const DELETE_EXTENSION: &str = "del";
/// Extension of an update commit. The format describes it, but no release writes it.
pub const UPDATE_EXTENSION: &str = "upd";
/// Extension of a consolidated commits file.
pub const CONSOLIDATED_EXTENSION: &str = "con";
/// Extension of an ignore file, which lists consolidated commits to ignore.
pub const IGNORE_EXTENSION: &str = "ign";
/// Extension of a vacuum file, which lists the fragments or files superseded by a consolidated
/// fragment or metadata file.
pub const VACUUM_EXTENSION: &str = "vac";

/// The maintenance lock, which names its holder. It exists during maintenance of an array or group.
///
/// Maintenance files are stored in the folder of the array or group. Readers skip them as temporary
/// files. The names contain no underscore, because some releases of the reference library would
/// mistake them for fragments.
pub const MAINTENANCE_LOCK: &str = ".tdb-maintain.tmp";
/// Prefix of takeover files. A takeover file names the process that takes over a dead holder's
/// lock.
pub const TAKEOVER_PREFIX: &str = ".tdb-takeover-";
/// Prefix of journals. A journal lists the pending changes of a maintenance job.
pub const JOURNAL_PREFIX: &str = ".tdb-journal-";
/// Suffix of all maintenance files.
pub const MAINTENANCE_SUFFIX: &str = ".tmp";

/// Returns `true` for names of maintenance files.
///
/// These files are named like temporary files but are not orphaned. The next maintenance job
/// removes them or resumes from them.
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

/// Returns the last component of a path or URI.
#[must_use]
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
