//! What Arrow's metadata says of arrays.

/// Metadata of a schema: the definition of the array as TOML, as `tdb schema --format toml` prints it.
pub const SCHEMA_KEY: &str = "tdb.schema";
/// Metadata of a field: what it is of the array: `dimension`, `attribute` or `label`.
pub const ROLE_KEY: &str = "tdb.role";
/// Metadata of a field: the array's datatype, by name.
pub const DATATYPE_KEY: &str = "tdb.datatype";
/// Metadata of a field: how many values a cell has, or `var`.
pub const VALUES_KEY: &str = "tdb.values_per_cell";
/// Metadata of a field: `true` if the array's field is nullable. Arrow's may be so where this one isn't: where a value that
/// Arrow has no word for becomes null.
pub const NULLABLE_KEY: &str = "tdb.nullable";
/// Metadata of a field: the name of its enumeration.
pub const ENUMERATION_KEY: &str = "tdb.enumeration";
