//! What can be wrong with ranges and trees that a caller builds. What is wrong with bytes is a [`DecodeError`].

use tdb_types::{DecodeError, PhysicalType, Scalar};

/// A result of building, writing or searching.
pub type Result<T, E = RTreeError> = std::result::Result<T, E>;

/// A range or tree that makes no sense, or bytes that hold none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RTreeError {
    /// The bytes can't be decoded.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// Ranges for another number of dimensions than there are.
    #[error("ranges for {found} dimensions were given, the array has {expected}")]
    DimensionCount {
        /// How many ranges were given.
        found: usize,
        /// How many dimensions there are.
        expected: usize,
    },
    /// A range of numbers for a dimension of strings, or the reverse.
    #[error("dimension {dimension}: a range of {found} was given, its coordinates are {expected}")]
    RangeKind {
        /// The dimension's index.
        dimension: usize,
        /// What was given.
        found: &'static str,
        /// What the dimension needs.
        expected: &'static str,
    },
    /// Not as many ranges in one dimension as in the first.
    #[error("dimension {dimension}: ranges of {found} boxes were given, the first dimension has {expected}")]
    BoxCount {
        /// The dimension's index.
        dimension: usize,
        /// How many ranges were given.
        found: usize,
        /// How many the first dimension has.
        expected: usize,
    },
    /// The bounds of a range have different types.
    #[error("a range from {lo:?} to {hi:?} mixes types")]
    MixedTypes {
        /// Type of the lower bound.
        lo: PhysicalType,
        /// Type of the upper bound.
        hi: PhysicalType,
    },
    /// The lower bound is above the upper one, or one of them is NaN.
    #[error("the range from {lo} to {hi} holds no value; its start must not be above its end, nor NaN")]
    EmptyRange {
        /// The lower bound.
        lo: Scalar,
        /// The upper bound.
        hi: Scalar,
    },
    /// A range that has no end, or doesn't include it, can be searched for, but not stored.
    #[error("dimension {dimension}: a range that doesn't include its end can't be stored")]
    Unbounded {
        /// The dimension's index.
        dimension: usize,
    },
    /// Inner nodes must have at least two children, or a tree never narrows to its root.
    #[error("an R-tree with a fanout of {fanout} can't be built, it must be at least 2")]
    Fanout {
        /// The fanout asked for.
        fanout: u32,
    },
}
