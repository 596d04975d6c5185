//! Aggregates over the cells of TileDB arrays: count, sum, mean, minimum and maximum, also by
//! group.
//!
//! - [`Summary`]: the counts of values and nulls, the sum, the minimum and the maximum of a field.
//!   A summary accepts [`Cells`](tdb_types::Cells) of a tile or column, or statistics from
//!   metadata. Summaries can be merged.
//! - [`Groups`]: the same aggregates for each group of cells with equal keys, in key order. Memory
//!   is bounded. Groups beyond the limit need another pass over the cells.
//! - [`Bins`]: a histogram with intervals of equal width.
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
//! // Only the first and the second cell.
//! let mut some = Summary::new(kind, Measured::ALL);
//! some.add(&cells, Some(&[0, 1]));
//! assert_eq!((some.values(), some.nulls()), (1, 1));
//! ```
//!
//! # Semantics
//!
//! - **Nulls** are counted and excluded from all other aggregates. For [dates and
//!   times](ValueKind::Time), NaT is null, too.
//! - **Sums** of integers are exact. [`Total::sum`] converts the final sum to the type of the
//!   reference library, and saturates like the reference library. Intermediate sums do not
//!   overflow. Sums of floats follow IEEE 754. If finite values overflow, the sum is the maximum
//!   double, with a flag.
//! - **Minimum and maximum** of floats ignore NaNs, unless all values are NaN. The sign of a zero
//!   is unspecified. Strings compare byte by byte. Other cells (several numbers, wide strings) have
//!   no minimum and maximum.
//! - **Groups**: all nulls form one group, which sorts last. All NaNs form one group, after the
//!   infinities. `-0.0` and `0.0` are equal.

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

// Re-exported because the public signatures use types of this crate.
pub use tdb_types;

pub use bins::Bins;
pub use groups::{GroupRow, Groups};
pub use key::{KeyField, KeyShape};
pub use kind::{Measured, ValueKind};
pub use statistics::CellStatistics;
pub use summary::Summary;
pub use total::{Sum, Total};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
