//! Schemas of TileDB arrays as TOML, to read and edit by hand. `tdb schema --format toml` prints
//! this text, and `tdb create` reads it.
//!
//! [`to_toml`] and [`from_toml`] are inverses, except for the random names of enumeration files.
//!
//! ```
//! let text = r#"
//! array_type = "sparse"
//! capacity = 1000
//!
//! [[dimension]]
//! name = "chromosome"
//! datatype = "string_ascii"
//!
//! [[dimension]]
//! name = "position"
//! datatype = "uint32"
//! domain = [0, 249250620]
//! tile_extent = 10000
//! filters = ["double_delta", { filter = "zstd", level = 5 }]
//!
//! [[attribute]]
//! name = "base"
//! datatype = "uint8"
//! nullable = true
//! enumeration = "bases"
//!
//! [[enumeration]]
//! name = "bases"
//! datatype = "string_ascii"
//! values_per_value = "var"
//! values = ["A", "C", "G", "T"]
//! "#;
//! let definition = tdb_schema_text::from_toml(text)?;
//! assert_eq!(definition.schema().capacity(), 1000);
//! let printed = tdb_schema_text::to_toml(&definition)?;
//! assert_eq!(tdb_schema_text::from_toml(&printed)?.schema().attributes(), definition.schema().attributes());
//! # Ok::<(), tdb_schema_text::SchemaTextError>(())
//! ```
//!
//! Omitted keys have the defaults of the reference library. See `docs/reference/schema-text.md` for
//! all keys.
//!
//! Values have these forms:
//!
//! - Numbers are TOML numbers. Integers above the maximum `int64` may also be strings
//!   (`"18446744073709551615"`).
//! - Text values are TOML strings.
//! - Cells of several values are arrays.
//! - Any value may also be bytes in hexadecimal: `{ hex = "00ff" }`.
//! - Dates and times are integers in units of the datatype. Dates may also be strings, precise to
//!   the unit (`"2024-05-01"`).

mod document;
mod error;
mod filters;
mod parse;
mod print;
mod span;
mod value;

use tdb_schema::{ArrayDefinition, Attribute, Enumeration};
use tdb_types::FormatVersion;

pub use error::{Result, SchemaTextError, TomlError};
pub use tdb_schema;

/// Parses the definition of an array: its schema and its enumerations.
///
/// # Errors
/// Fails if the text is not TOML, has unknown keys or invalid values, or if parts contradict each
/// other, the format or a rule for new schemas.
pub fn from_toml(text: &str) -> Result<ArrayDefinition> {
    from_toml_as(text, None)
}

/// Parses a definition like [`from_toml`]. `version` overrides the format version in the text.
///
/// # Errors
/// As [`from_toml`]. Also fails if the version does not support a feature of the definition.
pub fn from_toml_as(text: &str, version: Option<FormatVersion>) -> Result<ArrayDefinition> {
    let document = toml::from_str(text)?;
    parse::definition(&document, version)
}

/// Parses attributes and enumerations to add to an array. The text has only `[[attribute]]` and
/// `[[enumeration]]` tables.
///
/// # Errors
/// Fails if the text is not TOML, or has unknown keys or invalid values.
pub fn additions_from_toml(text: &str) -> Result<(Vec<Attribute>, Vec<Enumeration>)> {
    let additions = toml::from_str(text)?;
    parse::additions(&additions)
}

/// Returns a definition as TOML.
///
/// # Errors
/// Fails if the values of an enumeration are missing.
pub fn to_toml(definition: &ArrayDefinition) -> Result<String> {
    definition.check_complete()?;
    Ok(print::definition(definition))
}

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
