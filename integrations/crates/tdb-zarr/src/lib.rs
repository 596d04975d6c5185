//! Converts dense TileDB arrays and groups to [Zarr](https://zarr.dev) version 3, and back. Also
//! reads version 2.
//!
//! - [`Export`]: writes an array, a part of an array, or a group with all members to a folder.
//!   Tiles become chunks.
//! - [`Import`]: reads Zarr. Chunks, including those within shards, become tiles.
//! - [`Compression`]: codec of the chunks.
//! - [`Error`]: names the file, the field, the member or the chunk.
//!
//! Cells are processed in subarrays of whole chunks that fit a memory budget. Unwritten cells and
//! missing chunks are skipped. `docs/guides/zarr.md` has the mapping of types and codecs.
//!
//! ```
//! use tdb_array::Array;
//! use tdb_zarr::{Export, Import};
//!
//! # let array = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
//! # let folder = tempfile::tempdir()?;
//! # let (zarr, copy) = (folder.path().join("array.zarr"), folder.path().join("copy"));
//! Export::new().array(&Array::open(array)?, &zarr)?;
//! assert_eq!(Import::new().to_folder(&zarr, &copy)?.arrays, 1);
//! assert_eq!(Array::open(&copy)?.schema().attributes(), Array::open(array)?.schema().attributes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod attributes;
mod boxes;
mod cells;
mod chunks;
mod codec;
mod codecs;
mod coder;
mod element;
mod error;
mod export;
mod files;
mod fill;
mod import;
mod keys;
mod mark;
mod names;
mod new_folder;
mod node;
mod object;
mod options;
mod shards;
mod version_2;

// Public signatures use types of this crate. The re-export spares users a dependency of the same
// version.
pub use tdb_array;

pub use codecs::Compression;
pub use coder::is_caught;
pub use error::{Error, Result};
pub use export::{Export, Exported};
pub use import::{Import, Imported};

/// Compiles and runs the example of the README.
#[cfg(all(doctest, feature = "zlib"))]
#[doc = include_str!("../README.md")]
struct Readme;
