//! Metadata keys of Arrow schemas and fields.

/// Schema metadata: the array definition as TOML, as `tdb schema --format toml` prints it.
pub const SCHEMA_KEY: &str = "tdb.schema";
/// Field metadata: the role in the array, `dimension`, `attribute` or `label`.
pub const ROLE_KEY: &str = "tdb.role";
/// Field metadata: the name of the array's datatype.
pub const DATATYPE_KEY: &str = "tdb.datatype";
/// Field metadata: the number of values per cell, or `var`.
pub const VALUES_KEY: &str = "tdb.values_per_cell";
/// Field metadata: `true` if the array's field is nullable. The Arrow field may be nullable where
/// the array's field is not, because values such as "no time" become null.
pub const NULLABLE_KEY: &str = "tdb.nullable";
/// Field metadata: the name of the enumeration.
pub const ENUMERATION_KEY: &str = "tdb.enumeration";
