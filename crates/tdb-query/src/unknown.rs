//! Why cells have to be looked at.

use std::fmt;

use tdb_fragment::Distrust;

/// Why metadata doesn't say a value. Of several reasons it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WhyUnknown {
    /// Cells of several fragments lie in the same place, and may take each other's.
    Overlap,
    /// The ranges, boxes or labels of the query hold a part of a tile only; or, of a dense array, several fragments have parts of it, or
    /// one has a part and nobody the rest.
    PartOfTile,
    /// Cells may have been deleted.
    Deletes,
    /// Some cells were written outside of the time that the array was opened at.
    Times,
    /// Whether cells fulfil the query's condition takes a look at them.
    Condition,
    /// The format, or the field's type, has no such statistics, they can't be read, or they are of cells that filters change.
    NoStatistics,
    /// The statistics are there, but may be wrong.
    Distrusted(Distrust),
    /// The sum doesn't fit into its type.
    TooLarge,
    /// The field's values have none: strings no sum, blobs no order.
    NotOfThisType,
}

impl fmt::Display for WhyUnknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overlap => f.write_str("fragments overlap"),
            Self::PartOfTile => f.write_str("a part of a tile only"),
            Self::Deletes => f.write_str("cells may have been deleted"),
            Self::Times => f.write_str("cells of other times"),
            Self::Condition => f.write_str("the condition takes a look at cells"),
            Self::NoStatistics => f.write_str("no statistics"),
            Self::Distrusted(why) => write!(f, "statistics may be wrong: {why}"),
            Self::TooLarge => f.write_str("the sum is too large for its type"),
            Self::NotOfThisType => f.write_str("values of this type have none"),
        }
    }
}
