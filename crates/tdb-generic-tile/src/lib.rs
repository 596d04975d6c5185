//! The self-describing generic tile of the TileDB storage format.
//!
//! Generic tiles hold schemas, enumerations, array and group metadata, group details, delete
//! conditions, and most fragment metadata. Each generic tile stores its filter pipeline. Readers
//! can therefore unfilter a tile without knowledge of the payload. This crate does not interpret
//! payloads.
//!
//! - [`GenericTile`]: an unfiltered tile, with functions that parse and write a tile.
//! - [`GenericTileHeader`]: the header before the filtered bytes, with their size.
//! - [`GenericTileDecoder`] and [`GenericTileEncoder`]: read and write many tiles with reused
//!   buffers.
//!
//! The format version in a header is the newest version that the writing library supports. This
//! version determines the encoding of the header's pipeline, and is independent of the payload.
//! Schemas and fragments store a separate version.
//!
//! ```
//! use tdb_generic_tile::{GenericTile, GenericTileHeader};
//! use tdb_types::{ByteReader, ByteWriter, Limits};
//!
//! # #[cfg(feature = "all-codecs")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut writer = ByteWriter::new();
//! GenericTile::write(b"\x07\0\0\0 and more", &mut writer)?;
//! let bytes = writer.into_bytes();
//!
//! // The header alone gives the length of the tile, for readers that fetch in two steps.
//! let header = GenericTileHeader::parse(&mut ByteReader::new(&bytes))?;
//! assert_eq!(header.stored_len(), bytes.len() as u64);
//! assert_eq!(header.pipeline.to_string(), "gzip(1)");
//!
//! let tile = GenericTile::parse(&mut ByteReader::new(&bytes), &Limits::default())?;
//! let number = tile.parse_payload(None, |reader| {
//!     let number = reader.u32("number")?;
//!     reader.bytes("words", 9)?;
//!     Ok(number)
//! })?;
//! assert_eq!(number, 7);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "all-codecs"))]
//! # fn main() {}
//! ```

mod decode;
mod encode;
mod error;
mod filtered;
mod header;
mod kind;
mod tile;
mod work;

// Re-exported because the public signatures use types of these crates.
pub use {tdb_filters, tdb_types};

pub use decode::GenericTileDecoder;
pub use encode::GenericTileEncoder;
pub use error::{GenericTileError, Result};
pub use header::GenericTileHeader;
pub use tile::GenericTile;

/// Compiles and runs the example of the README.
#[cfg(all(doctest, feature = "all-codecs"))]
#[doc = include_str!("../README.md")]
struct Readme;
