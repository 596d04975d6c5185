//! TileDB arrays as [Apache Arrow](https://arrow.apache.org) record batches, and back.
//!
//! - [`Reader`]: the result of a [`Query`](tdb_array::Query) as a [`RecordBatchReader`](arrow_array::RecordBatchReader);
//!   [`Conversion`]: single batches. Both share the memory of the cells wherever the two layouts agree, which is nearly everywhere.
//! - [`schema`]: an array's schema in Arrow's terms. Its metadata say what Arrow has no words for, so that [`definition`]
//!   makes the same array of it; [`NewArray`] makes one of any other schema.
//! - [`cells`]: record batches as cells to be [written](tdb_array::Write::cells), borrowed wherever the layouts agree.
//! - [`ArrowOptions`]: where there is more than one way.
//! - [`Error`]: names the field and, where it is about one, the cell.
//!
//! Which type becomes which, both ways, stands in `docs/arrow.md`.
//!
//! ```
//! use tdb_array::Array;
//! use tdb_arrow::arrow_array::cast::AsArray;
//! use tdb_arrow::arrow_array::types::Int32Type;
//! use tdb_arrow::{ArrowOptions, Reader};
//!
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
//! let array = Array::open(folder)?;
//! let query = array.read().select(["x"])?.range("y", 0..=1)?.range("x", 3..=5)?;
//! for batch in Reader::new(query, &ArrowOptions::new())? {
//!     let batch = batch?;
//!     let x = batch.column_by_name("x").unwrap().as_primitive::<Int32Type>();
//!     assert_eq!(x.values(), &[3, 4, 5, 3, 4, 5]);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod dates;
mod definition;
mod element;
mod error;
mod field;
mod from_arrow;
mod keys;
mod layout;
mod options;
mod reader;
mod to_arrow;

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use {arrow_array, arrow_schema, tdb_array};

pub use definition::{NewArray, cells_of, definition};
pub use error::{Error, Problem, Result};
pub use from_arrow::{cells, cells_for};
pub use keys::{DATATYPE_KEY, ENUMERATION_KEY, NULLABLE_KEY, ROLE_KEY, SCHEMA_KEY, VALUES_KEY};
pub use options::ArrowOptions;
pub use reader::{Conversion, Reader, schema};

/// The example of the crate's README compiles, and does what it says.
#[cfg(all(doctest, feature = "zlib"))]
#[doc = include_str!("../README.md")]
struct Readme;
