//! The self-describing generic tile of the TileDB array storage format.
//!
//! Everything in an array that is neither cells nor text lies in generic tiles: schemas, enumerations, metadata, the
//! sections of fragment metadata, delete conditions. A generic tile says how it was filtered, so it can be read without
//! knowing what is inside; and this crate doesn't know what is inside.
//!
//! - [`GenericTile`]: one tile, unfiltered. [`GenericTile::parse`] reads one, [`GenericTile::write`] writes one.
//! - [`GenericTileHeader`]: what stands before the filtered bytes, and how many those are.
//! - [`GenericTileDecoder`] and [`GenericTileEncoder`]: the same for many tiles in a row, with buffers used again.
//!
//! The format version in a header is that of the library which wrote the tile. It says how the header's pipeline is stored,
//! and nothing about the payload: a schema or fragment states its own version.
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
//! // The header alone says how far the tile reaches, for readers that fetch in two steps.
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

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use {tdb_filters, tdb_types};

pub use decode::GenericTileDecoder;
pub use encode::GenericTileEncoder;
pub use error::{GenericTileError, Result};
pub use header::GenericTileHeader;
pub use tile::GenericTile;

/// The example of the crate's README compiles, and does what it says.
#[cfg(all(doctest, feature = "all-codecs"))]
#[doc = include_str!("../README.md")]
struct Readme;
