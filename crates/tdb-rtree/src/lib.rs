//! Ranges, minimum bounding rectangles (MBRs) and the R-tree of the TileDB array storage format.
//!
//! - [`DimensionKind`]: as much of a dimension as its ranges need: its datatype, and whether coordinates are strings.
//! - [`DimRange`] and [`NdRange`]: a range in one dimension, and one in each. Non-empty domains, current
//!   domains and MBRs are stored as these, see [`NdRange::parse`]. [`Boxes`]: many of them, or points.
//! - [`RTree`]: the MBR of each tile of a sparse fragment, under a tree that speeds up [search](RTree::search).
//!
//! Bounds of fixed-size types are held as [ordered keys](tdb_types::ordered_key): `u64` that compare as the coordinates
//! do, and from which the stored bytes come back exactly, those of `-0.0` and NaN too. So one comparison serves all types.
//!
//! It knows nothing of files and filters.
//!
//! ```
//! use tdb_rtree::{Coverage, DimRange, DimensionKind, NdRange, RTree};
//! use tdb_types::{ByteReader, ByteWriter, Datatype, FormatVersion, Scalar};
//!
//! // Three tiles of an array with a dimension of integers and one of strings.
//! let kinds = [DimensionKind::fixed(Datatype::Int32), DimensionKind::var(Datatype::StringAscii)];
//! let rows = |lo, hi| DimRange::between(Scalar::I32(lo), Scalar::I32(hi));
//! let tiles = [
//!     NdRange(vec![rows(1, 4)?, DimRange::strings("a", "f")]),
//!     NdRange(vec![rows(3, 9)?, DimRange::strings("b", "c")]),
//!     NdRange(vec![rows(8, 9)?, DimRange::strings("x", "z")]),
//! ];
//! let tree = RTree::build(&kinds, &tiles, RTree::FANOUT)?;
//!
//! // As it lies in fragment metadata, and back.
//! let mut writer = ByteWriter::new();
//! tree.write(&mut writer, FormatVersion::DEFAULT);
//! let tree = RTree::parse(&mut ByteReader::new(writer.as_slice()), &kinds, FormatVersion::DEFAULT)?;
//! assert_eq!(tree.mbr(1).map(|mbr| mbr.display(&kinds).to_string()).as_deref(), Some(r#"[3, 9] × ["b", "c"]"#));
//!
//! // Which tiles hold cells in rows 0 to 5, columns "b" and after?
//! let query = [vec![rows(0, 5)?], vec![DimRange::strings_from("b")]];
//! let found: Vec<_> = tree.search(&query)?.collect();
//! assert_eq!(found, [(0, Coverage::Partial), (1, Coverage::Partial)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod boxes;
mod column;
mod disjoint;
mod end;
mod error;
mod kind;
mod nd_range;
mod range;
mod search;
mod stored;
mod tree;

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use tdb_types;

pub use boxes::Boxes;
pub use disjoint::disjoint;
pub use error::{RTreeError, Result};
pub use kind::DimensionKind;
pub use nd_range::NdRange;
pub use range::DimRange;
pub use search::{BoxedTile, Coverage, Search};
pub use tree::RTree;

/// The example of the crate's README compiles, and does what it says.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
