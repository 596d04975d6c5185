//! Dense TileDB arrays, and groups of them, as [Zarr](https://zarr.dev) version 3, and back; version 2 is read too.
//!
//! - [`Export`]: an array, a part of it, or a group with all that is in it, into a folder: tiles become chunks.
//! - [`Import`]: the other way: chunks, and those within shards, become tiles.
//! - [`Compression`]: how chunks are packed.
//! - [`Error`]: names the file, the field, the member or the chunk.
//!
//! Cells go by boxes of chunks that fit a budget of memory; those that nobody has written, and chunks that nobody has, are passed over.
//! Which type and codec becomes which stands in `docs/zarr.md`.
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

// Types of this crate stand in this one's signatures; its users needn't name it in a manifest.
pub use tdb_array;

pub use codecs::Compression;
pub use coder::is_caught;
pub use error::{Error, Result};
pub use export::{Export, Exported};
pub use import::{Import, Imported};

/// The example of the crate's README compiles, and does what it says.
#[cfg(all(doctest, feature = "zlib"))]
#[doc = include_str!("../README.md")]
struct Readme;
