//! Reasons for reading cells.

use std::fmt;

use tdb_fragment::UntrustedReason;

/// The reason why metadata does not determine a value. If several reasons apply, this is one of
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InexactReason {
    /// Fragments overlap or a fragment stores timestamps, so that a cell may replace another cell.
    Overlap,
    /// The query selects a part of a tile. In a dense array, this also means that several fragments
    /// contain parts of the tile, or that a part was never written.
    PartOfTile,
    /// Cells may have been deleted.
    Deletes,
    /// Some cells were written outside of the opened time range.
    Times,
    /// The query's condition must be evaluated on cells.
    Condition,
    /// The format or the field's type has no such statistics. Or the statistics are unreadable, or
    /// lossy filters change the cells.
    NoStatistics,
    /// The statistics exist, but may be wrong.
    Distrusted(UntrustedReason),
    /// The sum does not fit into the result type.
    TooLarge,
    /// The values have no such aggregate. For example, strings have no sum, and blobs have no
    /// order.
    NotOfThisType,
}

impl fmt::Display for InexactReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overlap => f.write_str("fragments overlap"),
            Self::PartOfTile => f.write_str("a tile is selected or written only in part"),
            Self::Deletes => f.write_str("cells may have been deleted"),
            Self::Times => f.write_str("some cells are outside of the time range"),
            Self::Condition => f.write_str("the condition must be evaluated on cells"),
            Self::NoStatistics => f.write_str("no statistics"),
            Self::Distrusted(why) => write!(f, "statistics may be wrong: {why}"),
            Self::TooLarge => f.write_str("the sum overflows its datatype"),
            Self::NotOfThisType => f.write_str("not defined for this datatype"),
        }
    }
}
