//! Errors of ranges and trees built by a caller. Errors in bytes are [`DecodeError`]s.

use tdb_types::{DecodeError, PhysicalType, Scalar};

/// A result of building, writing or searching.
pub type Result<T, E = RTreeError> = std::result::Result<T, E>;

/// An invalid range or tree, or undecodable bytes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RTreeError {
    /// The bytes cannot be decoded.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The number of ranges differs from the number of dimensions.
    #[error("expected ranges for {expected} dimensions, found {found}")]
    DimensionCount {
        /// Number of ranges.
        found: usize,
        /// Number of dimensions.
        expected: usize,
    },
    /// A range of numbers was given for a dimension of strings, or vice versa.
    #[error("dimension {dimension}: expected a range of {expected}, found {found}")]
    RangeKind {
        /// Index of the dimension.
        dimension: usize,
        /// The kind of the range.
        found: &'static str,
        /// The kind of the dimension.
        expected: &'static str,
    },
    /// The number of ranges differs from that of the first dimension.
    #[error("dimension {dimension}: expected {expected} ranges, as in the first dimension, found {found}")]
    BoxCount {
        /// Index of the dimension.
        dimension: usize,
        /// Number of ranges.
        found: usize,
        /// Number of ranges in the first dimension.
        expected: usize,
    },
    /// The number of boxes exceeds the number that a search supports.
    #[error("found {found} boxes, the limit is {limit}")]
    TooManyBoxes {
        /// Number of boxes.
        found: usize,
        /// The largest possible number.
        limit: usize,
    },
    /// The bounds of a range have different types.
    #[error("range from {lo:?} to {hi:?} mixes datatypes")]
    MixedTypes {
        /// Type of the lower bound.
        lo: PhysicalType,
        /// Type of the upper bound.
        hi: PhysicalType,
    },
    /// The lower bound exceeds the upper bound, or a bound is NaN.
    #[error("range from {lo} to {hi} is empty; expected a start not above the end and no NaN")]
    EmptyRange {
        /// The lower bound.
        lo: Scalar,
        /// The upper bound.
        hi: Scalar,
    },
    /// A range without an inclusive end cannot be stored, only searched.
    #[error("dimension {dimension}: cannot store a range without an inclusive end")]
    Unbounded {
        /// Index of the dimension.
        dimension: usize,
    },
    /// The fanout is less than 2, so that levels would never narrow to a root.
    #[error("cannot build an R-tree with a fanout of {fanout}, expected at least 2")]
    Fanout {
        /// The given fanout.
        fanout: u32,
    },
}
