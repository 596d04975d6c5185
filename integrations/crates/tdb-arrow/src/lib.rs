//! TileDB arrays as [Apache Arrow](https://arrow.apache.org) record batches, and back.
//!
//! - [`Reader`]: reads a [`Query`](tdb_array::Query) as a
//!   [`RecordBatchReader`](arrow_array::RecordBatchReader). [`Conversion`] converts single batches.
//!   Both share the memory of the cells where the two layouts agree, which is the common case.
//! - [`schema`]: converts the schema of an array to an Arrow schema. The metadata of the Arrow
//!   schema stores properties that Arrow cannot express, so that [`definition`] can restore the
//!   same array. [`NewArray`] creates a definition from any other Arrow schema.
//! - [`cells`]: converts record batches to cells for a [write](tdb_array::Write::cells). Borrows
//!   where the layouts agree.
//! - [`ArrowOptions`]: selects the Arrow type where several fit.
//! - [`Error`]: names the field and, where known, the cell.
//!
//! `docs/guides/arrow.md` has the table of types, for both directions.
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

// Public signatures use types of these crates. The re-exports spare users a dependency of the same
// version.
pub use {arrow_array, arrow_schema, tdb_array};

pub use definition::{NewArray, cells_of, definition};
pub use error::{Error, Problem, Result};
pub use from_arrow::{cells, cells_for};
pub use keys::{DATATYPE_KEY, ENUMERATION_KEY, NULLABLE_KEY, ROLE_KEY, SCHEMA_KEY, VALUES_KEY};
pub use options::ArrowOptions;
pub use reader::{Conversion, Reader, schema};

/// Compiles and runs the example of the README.
#[cfg(all(doctest, feature = "zlib"))]
#[doc = include_str!("../README.md")]
struct Readme;
