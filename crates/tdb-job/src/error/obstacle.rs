//! Obstacles to a migration.

/// Part of an array that the target format cannot represent or would lose.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// A part of the schema from later formats.
    #[error("{what}: formats from {since} on have it")]
    Feature {
        /// Description of the part.
        what: String,
        /// First format version with support.
        since: u32,
    },
    /// A filter or a filter option of later formats.
    #[error("filters of {field}: {why}")]
    Filter {
        /// Name of the field.
        field: String,
        /// Reason.
        why: String,
    },
    /// A lossy filter. Each write loses precision.
    #[error("filter {filter} of {field} loses something each time that cells are written: give the field another one")]
    Loses {
        /// Name of the field.
        field: String,
        /// Name of the filter.
        filter: String,
    },
    /// The releases of the target format reject the schema.
    #[error("the schema: {0}")]
    Schema(String),
    /// The array has several schemas. Formats before 10 keep only one schema.
    #[error(
        "{0} schemas, by which it was written: formats from 10 on keep more than one (without its history the latest will do)"
    )]
    Schemas(usize),
    /// The array has metadata. Formats before 4 have no metadata.
    #[error("metadata: formats from 4 on have it")]
    Metadata,
    /// Cells were deleted by a condition. Formats before 16 do not support deletes.
    #[error(
        "{0} deletes of cells by a condition: formats from 16 on have them (without its history the deleted cells are left out)"
    )]
    Deletes(usize),
    /// Cells have timestamps.
    #[error(
        "fragment {fragment}: its cells carry the times at which they were written or deleted; formats from {since} on have that"
    )]
    CellTimes {
        /// Name of the fragment.
        fragment: String,
        /// First format version with timestamps.
        since: u32,
    },
    /// A fragment has a time range. Formats before 3 have a single timestamp.
    #[error("fragment {0} was written over a range of time: formats from 3 on can say so")]
    Range(String),
    /// Another write or delete falls within the time range of a fragment without cell timestamps.
    #[error(
        "fragment {0} is of a range of time, which this format shows otherwise, and something else happened within it: vacuum the array before, or leave out its history"
    )]
    Between(String),
    /// A sparse fragment in a dense array.
    #[error(
        "fragment {0} is sparse in a dense array: such are written no more (without its history the cells can be copied)"
    )]
    SparseInDense(String),
    /// A vacuum file matches several fragments, and the consolidated fragment is unknown.
    #[error("{0} says which fragments were joined, but not which of several came of it: vacuum the array before")]
    NotVacuumed(String),
    /// Some fragments of a vacuum file are deleted. Readers of earlier times see only the remaining
    /// fragments.
    #[error(
        "{0} names fragments of which some are gone, and readers of earlier times see the others: vacuum the array before, or leave out its history"
    )]
    PartlyGone(String),
    /// Cells were updated by a condition.
    #[error("{0} updates cells by a condition, which this library doesn't apply")]
    Update(String),
    /// The array of a dimension label is outside of this array.
    #[error("dimension label {0:?} lies in an array outside of this one")]
    OutsideLabel(String),
    /// Flattening a dense array would multiply the number of cells.
    #[error(
        "without its history {cells} cells would be written, where {stored} are stored: its cells lie far from each other \
         (smaller tile extents may help, or keeping the history)"
    )]
    Spread {
        /// Number of cells to be written.
        cells: u128,
        /// Number of stored cells, at most.
        stored: u128,
    },
    /// An obstacle in the array of a dimension label.
    #[error("in the array of dimension label {label:?}: {why}")]
    Label {
        /// Name of the label.
        label: String,
        /// The obstacle.
        why: Box<Obstacle>,
    },
    /// The array has no field with this name.
    #[error("there is no {what} {name:?}")]
    NoSuchField {
        /// Kind of field.
        what: &'static str,
        /// Name of the field.
        name: String,
    },
}
