//! Ranges, minimum bounding rectangles (MBRs) and R-trees of the TileDB array storage format.
//!
//! - [`DimensionKind`]: a dimension's datatype, and the kind of its coordinates, which is fixed
//!   size or strings.
//! - [`DimRange`] and [`NdRange`]: a range in one dimension, and in all dimensions. Files store
//!   non-empty domains, current domains and MBRs as ranges in all dimensions (see
//!   [`NdRange::parse`]).
//! - [`Boxes`]: a set of subarrays or points.
//! - [`RTree`]: the MBRs of a sparse fragment's tiles, with inner nodes that speed up
//!   [search](RTree::search).
//!
//! In memory, bounds of fixed-size types are [ordered keys](tdb_types::ordered_key), which are
//! `u64` values with the order of the coordinates. All types thus share the same comparison. Keys
//! convert back to the exact stored bytes, including `-0.0` and NaN.
//!
//! The crate does no I/O and runs no filters.
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
//! // The tree as stored in fragment metadata, and back.
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

// Re-exported because public signatures use types of this crate.
pub use tdb_types;

pub use boxes::Boxes;
pub use disjoint::disjoint;
pub use error::{RTreeError, Result};
pub use kind::DimensionKind;
pub use nd_range::NdRange;
pub use range::DimRange;
pub use search::{BoxedTile, Coverage, Search};
pub use tree::RTree;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
