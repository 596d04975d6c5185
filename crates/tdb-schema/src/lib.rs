//! Array schemas of the TileDB storage format: dimensions, attributes, orders and filters.
//!
//! - [`ArraySchema`]: a schema of any format version, parsed, validated and written back byte for
//!   byte. It has a [`Domain`] of [`Dimension`]s, [`Attribute`]s, [`DimensionLabel`]s, references
//!   to [`Enumeration`]s, and an optional current domain.
//! - [`SchemaBuilder`]: builds a new schema and applies the reference library's rules for new
//!   schemas.
//! - [`ArrayDefinition`]: a schema with its enumerations and label arrays, complete enough to
//!   create an array.
//! - [`SchemaEvolution`]: changes to a definition.
//! - [`Tiling`]: maps coordinates to space tiles.
//! - [`hilbert`]: the Hilbert curve through the domain of sparse arrays.
//! - [`global_order`]: the order of the cells of sparse arrays on disk.
//!
//! ```
//! use tdb_schema::{ArraySchema, Attribute, Dimension, FieldRef, SchemaBuilder};
//! use tdb_types::{Datatype, Limits, Scalar};
//!
//! let position = Dimension::new("position", 0u32..=249_250_620);
//! let schema = SchemaBuilder::sparse()
//!     .dimension(Dimension::string("chromosome"))
//!     .dimension(position.with_tile(10_000))
//!     .attribute(Attribute::new("quality", Datatype::Float32).nullable(false))
//!     .build()?;
//!
//! // The bytes of the file in `__schema`, and back.
//! let file = schema.to_file()?;
//! let (read, _header) = ArraySchema::parse_file(&file, &Limits::default(), None)?;
//! assert_eq!(read, schema);
//! assert_eq!(read.field("quality"), Some(FieldRef::Attribute(0)));
//! assert_eq!(read.dimensions()[1].tile_index(Scalar::U32(25_000).key()), 2);
//! # Ok::<(), tdb_schema::SchemaError>(())
//! ```
//!
//! # Invariants
//!
//! Every [`ArraySchema`] has been validated and satisfies these rules:
//!
//! - At least one dimension. Each dimension has a datatype that the format allows for dimensions.
//!   Bounds are finite and in order. A tile extent is not negative. A tile extent of integers is
//!   positive and no larger than the domain.
//! - In dense arrays, at least one attribute, and dimensions of a single countable datatype.
//! - In sparse arrays, a capacity above 0. Only sparse arrays of at most 16 dimensions may use
//!   Hilbert order.
//! - Distinct names of dimensions, attributes and labels, and distinct names of enumerations.
//! - Fill values that fill a cell.
//! - Every referenced enumeration and labeled dimension exists.
//! - File names are single path components, and relative label URIs stay below the array.
//! - The current domain lies within the domain.

mod attribute;
mod builder;
mod current_domain;
mod definition;
mod dimension;
mod divisor;
mod domain;
mod dump;
mod enumeration;
mod error;
mod evolution;
mod field;
mod file;
pub mod global_order;
pub mod hilbert;
mod label;
mod payload;
mod scalar_bits;
mod schema;
mod tiling;
mod validate;

use tdb_types::ByteReader;

// Re-exported because the public signatures use types of these crates.
pub use {tdb_filters, tdb_generic_tile, tdb_rtree, tdb_types};

pub use attribute::Attribute;
pub use builder::SchemaBuilder;
pub use definition::ArrayDefinition;
pub use dimension::Dimension;
pub use domain::Domain;
pub use enumeration::{Enumeration, EnumerationRef};
pub use error::{Result, SchemaError};
pub use evolution::SchemaEvolution;
pub use field::{FieldRef, FieldType};
pub use label::DimensionLabel;
pub use schema::ArraySchema;
pub use tiling::Tiling;

/// Runs `parse` as the structure `name`, like [`ByteReader::group`].
///
/// Decode errors get the name of the structure. Other errors already name their structure and pass
/// through.
fn group<T>(
    reader: &mut ByteReader<'_>,
    name: &'static str,
    parse: impl FnOnce(&mut ByteReader<'_>) -> Result<T>,
) -> Result<T> {
    reader.group(
        || name.to_owned(),
        |reader| match parse(reader) {
            Err(SchemaError::Decode(error)) => Err(error),
            other => Ok(other),
        },
    )?
}

/// Returns a function that formats the name of the structure at the reader's position.
///
/// The name consists of `what`, `index` and the stored name, which begins `skip` bytes ahead. The
/// function reads the stored name only when called.
fn group_name<'a>(
    what: &'static str,
    index: usize,
    skip: u64,
    reader: &ByteReader<'a>,
) -> impl Fn() -> String + use<'a> {
    let ahead = ByteReader::new(reader.rest());
    move || {
        let mut ahead = ahead.clone();
        match ahead.bytes("skipped", skip).and_then(|_| ahead.string_u32("name")) {
            Ok(name) => format!("{what} {index} {name:?}"),
            Err(_) => format!("{what} {index}"),
        }
    }
}

/// Compiles and runs the example of the README.
#[cfg(all(doctest, feature = "all-codecs"))]
#[doc = include_str!("../README.md")]
struct Readme;
