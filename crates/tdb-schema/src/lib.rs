//! Array schemas of the TileDB array storage format: what an array's dimensions, attributes, orders and filters are.
//!
//! - [`ArraySchema`]: a schema of any format version, read from bytes, checked, and written back byte for byte. It has a
//!   [`Domain`] of [`Dimension`]s, [`Attribute`]s, [`DimensionLabel`]s, references to [`Enumeration`]s, and maybe a current
//!   domain.
//! - [`SchemaBuilder`]: a schema from nothing, which can't build what the reference library would refuse.
//! - [`ArrayDefinition`]: a schema with the enumerations and label arrays that it refers to; all that an array is made from.
//! - [`SchemaEvolution`]: changes of a definition.
//! - [`Tiling`]: from coordinates to the space tiles that they lie in.
//! - [`hilbert`]: the Hilbert curve through the domain of sparse arrays.
//! - [`global_order`]: the order in which the cells of sparse arrays lie on disk.
//!
//! ```
//! use tdb_schema::{ArraySchema, Attribute, Dimension, FieldRef, SchemaBuilder};
//! use tdb_types::{Datatype, Limits, Scalar};
//!
//! let position = Dimension::new("position", Datatype::UInt32, Scalar::U32(0), Scalar::U32(249_250_620));
//! let schema = SchemaBuilder::sparse()
//!     .dimension(Dimension::string("chromosome"))
//!     .dimension(position.with_tile_extent(Scalar::U32(10_000)))
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
//! # What is checked
//!
//! Whoever holds an [`ArraySchema`] may rely on: at least one dimension, of a datatype that dimensions may have, with
//! finite bounds in order and a tile extent that is positive and, for integers, no larger than the domain; at least one
//! attribute, and dimensions of one countable datatype, if the array is dense; a capacity above 0 if it is sparse; Hilbert
//! order only in sparse arrays; names that differ; fill values of the size of a cell; enumerations and labelled dimensions
//! that exist; file names that stay in their folder; a current domain within the domain.

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

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
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

/// Runs `parse` as the structure `name`, as [`ByteReader::group`] does: decoding errors get its name, other errors have
/// names of their own and pass through.
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

/// The name of the structure that begins at the reader, as a function that is only called if anybody asks: `what`, its
/// position, and its own name, which lies `skip` bytes ahead.
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

/// The example of the crate's README compiles, and does what it says.
#[cfg(all(doctest, feature = "all-codecs"))]
#[doc = include_str!("../README.md")]
struct Readme;
