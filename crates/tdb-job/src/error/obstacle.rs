//! What a format can't say of an array.

/// Something of an array that would be lost in another format, or that can't be written in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// A part of the schema that later formats have.
    #[error("{what}: formats from {since} on have it")]
    Feature {
        /// What it is.
        what: String,
        /// The first format that has it.
        since: u32,
    },
    /// A filter, or an option of one, that later formats have.
    #[error("filters of {field}: {why}")]
    Filter {
        /// The field.
        field: String,
        /// Why not.
        why: String,
    },
    /// A filter that loses something each time that cells go through it.
    #[error("filter {filter} of {field} loses something each time that cells are written: give the field another one")]
    Loses {
        /// The field.
        field: String,
        /// The filter.
        filter: String,
    },
    /// A schema that the format's releases refuse.
    #[error("the schema: {0}")]
    Schema(String),
    /// The array has had several schemas.
    #[error(
        "{0} schemas, by which it was written: formats from 10 on keep more than one (without its history the latest will do)"
    )]
    Schemas(usize),
    /// The array has metadata.
    #[error("metadata: formats from 4 on have it")]
    Metadata,
    /// Cells were deleted by a condition.
    #[error(
        "{0} deletes of cells by a condition: formats from 16 on have them (without its history the deleted cells are left out)"
    )]
    Deletes(usize),
    /// Cells carry their times.
    #[error(
        "fragment {fragment}: its cells carry the times at which they were written or deleted; formats from {since} on have that"
    )]
    CellTimes {
        /// The fragment.
        fragment: String,
        /// The first format that has it.
        since: u32,
    },
    /// A fragment is of a range of time.
    #[error("fragment {0} was written over a range of time: formats from 3 on can say so")]
    Range(String),
    /// Something happened within the time of a fragment whose cells don't carry their times.
    #[error(
        "fragment {0} is of a range of time, which this format shows otherwise, and something else happened within it: vacuum the array before, or leave out its history"
    )]
    Between(String),
    /// A sparse fragment in a dense array.
    #[error(
        "fragment {0} is sparse in a dense array: such are written no more (without its history the cells can be copied)"
    )]
    SparseInDense(String),
    /// Fragments were joined, and it isn't clear which of them stand for which.
    #[error("{0} says which fragments were joined, but not which of several came of it: vacuum the array before")]
    NotVacuumed(String),
    /// Fragments were joined, and some of them are gone since: readers of earlier times see what is left of them.
    #[error(
        "{0} names fragments of which some are gone, and readers of earlier times see the others: vacuum the array before, or leave out its history"
    )]
    PartlyGone(String),
    /// Cells were updated by a condition.
    #[error("{0} updates cells by a condition, which this library doesn't apply")]
    Update(String),
    /// Labels lie in arrays elsewhere.
    #[error("dimension label {0:?} lies in an array outside of this one")]
    OutsideLabel(String),
    /// Without its history a dense array would become many times as large.
    #[error(
        "without its history {cells} cells would be written, where {stored} are stored: its cells lie far from each other \
         (smaller tile extents may help, or keeping the history)"
    )]
    Spread {
        /// How many cells would be written.
        cells: u128,
        /// How many are stored, at most.
        stored: u128,
    },
    /// Something in the array of a dimension label.
    #[error("in the array of dimension label {label:?}: {why}")]
    Label {
        /// The name of the label.
        label: String,
        /// What it is.
        why: Box<Obstacle>,
    },
    /// There is no such field.
    #[error("there is no {what} {name:?}")]
    NoSuchField {
        /// Of what kind.
        what: &'static str,
        /// Its name.
        name: String,
    },
}
