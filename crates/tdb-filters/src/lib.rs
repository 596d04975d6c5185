//! The filter pipelines of the TileDB array storage format: tile bytes to filtered bytes, and back.
//!
//! A tile (the cells of one field in one region) is cut into chunks, and each chunk goes through the filters of a
//! pipeline before it is stored. Three layers:
//!
//! 1. [`FilterPipeline`] and [`Filter`] say what a pipeline is: parsed, compared, printed and written without any codec.
//! 2. [`BoundPipeline`] binds one to a [`TileKind`]: which datatype reaches which filter, which filters have nothing to
//!    do, how a tile is cut. Decided once, checked once, shared between threads.
//! 3. Underneath, each filter is a file that decodes and encodes side by side, dispatched once per chunk.
//!
//! All memory between filters, and the contexts of the codecs, live in a [`Scratch`] of which each thread brings its own.
//! The first filter undone reads the file's bytes in place, the last one writes into the caller's memory.
//!
//! Decode a tile from its bytes, with nothing else at hand:
//!
//! ```
//! use tdb_filters::{BoundPipeline, FilterPipeline, Scratch, TileKind};
//! use tdb_types::{ByteReader, Datatype, FormatVersion};
//!
//! // As a schema has it: chunks of 65536 bytes at most, and two filters, byteshuffle (9) and run lengths (4).
//! let pipeline = [
//!     0, 0, 1, 0, 2, 0, 0, 0, //
//!     9, 0, 0, 0, 0, //
//!     4, 5, 0, 0, 0, 4, 255, 255, 255, 255,
//! ];
//! let pipeline = FilterPipeline::parse(&mut ByteReader::new(&pipeline), FormatVersion::DEFAULT)?;
//! assert_eq!(pipeline.to_string(), "byteshuffle | rle");
//!
//! // As a data file has it: one chunk, 16 bytes of the tile, whose filtered form is 28 bytes after 24 of metadata.
//! let filtered = [
//!     1, 0, 0, 0, 0, 0, 0, 0, // one chunk:
//!     16, 0, 0, 0, 28, 0, 0, 0, 24, 0, 0, 0, // bytes of the tile, of data, of metadata
//!     1, 0, 0, 0, 1, 0, 0, 0, // run lengths are of one part of metadata and one of data:
//!     8, 0, 0, 0, 16, 0, 0, 0, // byteshuffle's metadata became 16 bytes,
//!     16, 0, 0, 0, 12, 0, 0, 0, // the data 12
//!     1, 0, 0, 1, 0, 0, 0, 1, 16, 0, 0, 1, 0, 0, 0, 1, // shuffled: one part of 16 bytes
//!     7, 7, 0, 4, 1, 1, 0, 3, 1, 2, 0, 1, // all low bytes are 7, all high bytes but the last 1
//! ];
//! let kind = TileKind::fixed(Datatype::UInt16, 1, FormatVersion::DEFAULT);
//! let mut tile = [0; 16];
//! BoundPipeline::bind(&pipeline, kind)?.decode_tile(&filtered, &mut tile, &mut Scratch::new())?;
//! assert_eq!(tile, [7, 1, 7, 1, 7, 1, 7, 1, 7, 1, 7, 1, 7, 1, 7, 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each codec is a feature: `zstd`, `zlib`, `lz4`, `bzip2` and `checksum` are on by default, `aes` (encryption) and `webp`
//! (images) are not, and `webp-lossy` (writing images with loss, which needs Rust 1.92) is on nowhere. Only
//! `zstd` is C code. A build without one reads all pipelines, and refuses the tiles that need it with an error that names the
//! feature.
//!
//! Bytes are hostile: none of them make this crate panic, nor allocate more than [`Limits`](tdb_types::Limits) allow.
//! It knows nothing of schemas and files.

mod bind;
mod chunk;
mod chunking;
mod driver;
mod error;
mod flow;
mod ivs;
mod key;
mod key_problem;
mod kind;
mod scratch;
mod spec;
mod stage;
mod storable;
mod word;

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use tdb_types;

pub use bind::BoundPipeline;
pub use chunk::{Chunk, ChunkHeader, ChunkIndex};
pub use error::FilterError;
pub use key::EncryptionKey;
pub use key_problem::KeyProblem;
pub use kind::{ElementTypes, TileKind, TileRole};
pub use scratch::Scratch;
pub use spec::{Filter, FilterPipeline, WebPFormat, WebPOptions};
pub use stage::ahead::ChunksAhead;
pub use storable::StorableValues;

pub(crate) use error::length_u32;

/// The example of the crate's README compiles, and does what it says.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
