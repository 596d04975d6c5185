//! Aggregates over the cells of TileDB arrays: counts, sums, means, least and greatest values, and all of them by group.
//!
//! - [`Summary`]: what is known of the values of one field: how many there are, how many are null, their sum, the least and the
//!   greatest. It takes [`Cells`](tdb_types::Cells), of a tile or a column, or what metadata says of them; summaries of parts are
//!   merged.
//! - [`Groups`]: the same for each group of cells that are equal in some fields. Keys are kept in order, and the memory that they
//!   take is bounded: groups that there is no room for are left to another pass over the cells.
//! - [`Bins`]: how many values lie in each of some intervals of equal width.
//!
//! ```
//! use tdb_aggregate::{Measured, Summary, ValueKind};
//! use tdb_types::{CellValNum, Cells, Datatype, Validity};
//!
//! let kind = ValueKind::of(Datatype::UInt16, CellValNum::ONE);
//! let mut summary = Summary::new(kind, Measured::ALL);
//! let cells = Cells::fixed(&[7, 0, 255, 255, 1, 1], 2).with_validity(Validity::Bytes(&[1, 0, 1]));
//! summary.add(&cells, None);
//! assert_eq!((summary.values(), summary.nulls()), (2, 1));
//! assert_eq!(summary.total().mean(summary.values()), Some(132.0));
//! assert_eq!(summary.bounds(), Some((&[7, 0][..], &[1, 1][..])));
//! // Of the first and the second cell only.
//! let mut some = Summary::new(kind, Measured::ALL);
//! some.add(&cells, Some(&[0, 1]));
//! assert_eq!((some.values(), some.nulls()), (1, 1));
//! ```
//!
//! # What is computed
//!
//! - **Nulls** are counted, and left out of everything else. Of [dates and times](ValueKind::Time) NaT is null, too.
//! - **Sums** of integers are exact. Whether the sum fits into the type that the reference library gives ([`Total::sum`]) shows at
//!   the end, not on the way: it saturates there, as the reference library's does. Sums of floats are those of IEEE 754; only
//!   if finite values leave the range of doubles, it stops at the greatest double, and says so.
//! - **Least and greatest value** of floats leave NaNs out, unless there is nothing else; which of `-0.0` and `0.0` is given, isn't
//!   said. Strings compare byte by byte. Of other cells (several numbers, wide strings) there are none.
//! - **Groups**: nulls are one group, the last; so are NaNs, after the infinities; `-0.0` and `0.0` are equal.

mod bins;
mod blocks;
mod bounds;
mod groups;
mod key;
mod kind;
mod number;
mod statistics;
mod summary;
mod total;

// Types of this crate stand in this one's signatures; its users needn't name it in a manifest.
pub use tdb_types;

pub use bins::Bins;
pub use groups::{GroupRow, Groups};
pub use key::{KeyField, KeyShape};
pub use kind::{Measured, ValueKind};
pub use statistics::CellStatistics;
pub use summary::Summary;
pub use total::{Sum, Total};

/// The example of the crate's README compiles, and does what it says.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
