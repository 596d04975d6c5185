//! Filter pipelines of the TileDB array storage format.
//!
//! A tile holds the cells of one field in one region. Before storage it is cut into chunks, and
//! each chunk passes through the filters of a pipeline. The crate has three layers:
//!
//! 1. [`FilterPipeline`] and [`Filter`] describe a pipeline. Parsing, comparing, printing and
//!    writing need no codec.
//! 2. [`BoundPipeline`] binds a pipeline to a [`TileKind`]. Binding checks the pipeline and decides
//!    the datatype at each filter, the filters to skip, and the chunking. The result is shared
//!    between threads.
//! 3. Each filter has a module with an encoder and a decoder, dispatched once per chunk.
//!
//! A [`Scratch`] holds the buffers between filters and the contexts of the codecs. Each thread uses
//! a separate scratch. Decoding reads the file's bytes in place and writes directly into the
//! caller's memory.
//!
//! Decode a tile from bytes alone:
//!
//! ```
//! use tdb_filters::{BoundPipeline, FilterPipeline, Scratch, TileKind};
//! use tdb_types::{ByteReader, Datatype, FormatVersion};
//!
//! // A pipeline as stored in a schema: chunks of at most 65536 bytes, byteshuffle (9), rle (4).
//! let pipeline = [
//!     0, 0, 1, 0, 2, 0, 0, 0, //
//!     9, 0, 0, 0, 0, //
//!     4, 5, 0, 0, 0, 4, 255, 255, 255, 255,
//! ];
//! let pipeline = FilterPipeline::parse(&mut ByteReader::new(&pipeline), FormatVersion::DEFAULT)?;
//! assert_eq!(pipeline.to_string(), "byteshuffle | rle");
//!
//! // A tile as stored in a data file: 16 bytes, filtered to 24 bytes of metadata and 28 of data.
//! let filtered = [
//!     1, 0, 0, 0, 0, 0, 0, 0, // one chunk:
//!     16, 0, 0, 0, 28, 0, 0, 0, 24, 0, 0, 0, // lengths: unfiltered, data, metadata
//!     1, 0, 0, 0, 1, 0, 0, 0, // run-length encoding: one metadata part and one data part
//!     8, 0, 0, 0, 16, 0, 0, 0, // metadata of byteshuffle: 8 bytes, encoded as 16
//!     16, 0, 0, 0, 12, 0, 0, 0, // data: 16 bytes, encoded as 12
//!     1, 0, 0, 1, 0, 0, 0, 1, 16, 0, 0, 1, 0, 0, 0, 1, // metadata: one part of 16 bytes
//!     7, 7, 0, 4, 1, 1, 0, 3, 1, 2, 0, 1, // data: eight low bytes 7, seven high bytes 1, one 2
//! ];
//! let kind = TileKind::fixed(Datatype::UInt16, 1, FormatVersion::DEFAULT);
//! let mut tile = [0; 16];
//! BoundPipeline::bind(&pipeline, kind)?.decode_tile(&filtered, &mut tile, &mut Scratch::new())?;
//! assert_eq!(tile, [7, 1, 7, 1, 7, 1, 7, 1, 7, 1, 7, 1, 7, 1, 7, 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Filters that need another crate are Cargo features. `zstd`, `zlib`, `lz4`, `bzip2` and
//! `checksum` are on by default. `aes` (encryption), `webp` (images) and `webp-lossy` (lossy image
//! encoding, requires Rust 1.92) are off by default. Only `zstd` contains C code. A build without a
//! feature still parses all pipelines. It rejects the tiles that need the feature, with an error
//! that names it.
//!
//! Hostile bytes cause neither panics nor allocations beyond [`Limits`](tdb_types::Limits). The
//! crate is independent of schemas and files.

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

// Re-exported because public signatures use types of this crate.
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

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
