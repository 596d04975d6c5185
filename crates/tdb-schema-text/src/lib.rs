//! Schemas of TileDB arrays as TOML, to be read, written and changed by people: what `tdb schema --format toml` prints, and
//! `tdb create` takes.
//!
//! [`to_toml`] and [`from_toml`] are each other's inverse but for what the format leaves to chance: the names of the files
//! of enumerations.
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
//! What may be left out has the reference library's default: see `docs/schema-text.md` for all keys. Values are numbers as
//! TOML has them, integers beyond its 64 signed bits also as strings (`"18446744073709551615"`), text as strings, and anything
//! that none of these can hold as its bytes: `{ hex = "00ff" }`. Dates and times are integers of their unit.

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

/// Reads a definition.
///
/// # Errors
/// What is no TOML, has keys that aren't known, values of another type than they should have, or parts that contradict
/// each other or the format.
pub fn from_toml(text: &str) -> Result<ArrayDefinition> {
    from_toml_as(text, None)
}

/// The same, for another format version than the text states.
///
/// # Errors
/// As [`from_toml`]; something that the version can't express.
pub fn from_toml_as(text: &str, version: Option<FormatVersion>) -> Result<ArrayDefinition> {
    let document = toml::from_str(text)?;
    parse::definition(&document, version)
}

/// Reads attributes and enumerations that are to be added to an array: `[[attribute]]` and `[[enumeration]]` alone.
///
/// # Errors
/// As [`from_toml`].
pub fn additions_from_toml(text: &str) -> Result<(Vec<Attribute>, Vec<Enumeration>)> {
    let additions = toml::from_str(text)?;
    parse::additions(&additions)
}

/// Prints a definition.
///
/// # Errors
/// A definition that lacks the values of an enumeration.
pub fn to_toml(definition: &ArrayDefinition) -> Result<String> {
    definition.check_complete()?;
    Ok(print::definition(definition))
}

/// The example of the crate's README compiles, and does what it says.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
