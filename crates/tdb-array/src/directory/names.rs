//! The names of files and folders in an array.

/// Schemas, from format 10 on.
pub(crate) const SCHEMA_FOLDER: &str = "__schema";
/// Enumerations, inside the folder of schemas.
pub(crate) const ENUMERATIONS_FOLDER: &str = "__schema/__enumerations";
/// The schema of formats 1 to 9.
pub(crate) const LEGACY_SCHEMA: &str = "__array_schema.tdb";
/// Fragments, from format 12 on.
pub(crate) const FRAGMENTS_FOLDER: &str = "__fragments";
/// Consolidated fragment metadata, from format 12 on.
pub(crate) const FRAGMENT_META_FOLDER: &str = "__fragment_meta";
/// Commits, from format 12 on.
pub(crate) const COMMITS_FOLDER: &str = "__commits";
/// What makes a folder a group.
pub(crate) const GROUP_FOLDER: &str = "__group";
/// What makes a folder a group, too.
pub(crate) const GROUP_MARKER: &str = "__tiledb_group.tdb";
/// The metadata of a fragment, inside its folder.
pub(crate) const FRAGMENT_METADATA: &str = "__fragment_metadata.tdb";
/// All coordinates of a fragment of formats 1 to 4, inside its folder.
pub(crate) const COORDINATES: &str = "__coords.tdb";
