//! Obstacles to a migration.

/// A part of an array that the target format cannot represent or would lose.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// A part of the schema that only later formats support.
    #[error("{what}: needs format version {since} or later")]
    Feature {
        /// Description of the part.
        what: String,
        /// First format version that supports the part.
        since: u32,
    },
    /// A filter or a filter option that the target format does not support.
    #[error("filters of {field}: {why}")]
    Filter {
        /// Name of the field.
        field: String,
        /// Reason.
        why: String,
    },
    /// A lossy filter. Each write loses precision.
    #[error(
        "filter {filter} of {field} is lossy and loses precision each time that cells are written: choose another filter for the field"
    )]
    Loses {
        /// Name of the field.
        field: String,
        /// Name of the filter.
        filter: String,
    },
    /// Releases that write the target format would reject the schema.
    #[error("invalid schema: {0}")]
    Schema(String),
    /// The array has several schemas. Formats before 10 support only one schema.
    #[error(
        "the fragments use {0} schemas: format versions before 10 keep only one (without the history, the latest is enough)"
    )]
    Schemas(usize),
    /// The array has metadata. Formats before 4 have no metadata.
    #[error("metadata: needs format version 4 or later")]
    Metadata,
    /// Cells were deleted by a condition. Formats before 16 do not support deletes.
    #[error(
        "{0} deletes of cells by a condition: need format version 16 or later (without the history, the deleted cells are dropped)"
    )]
    Deletes(usize),
    /// Cells have timestamps, which the target format does not support.
    #[error(
        "fragment {fragment}: the cells have timestamps of writes or deletes, which need format version {since} or later"
    )]
    CellTimes {
        /// Name of the fragment.
        fragment: String,
        /// First format version with timestamps.
        since: u32,
    },
    /// A fragment has a time range. In formats before 3, a fragment has a single timestamp.
    #[error("fragment {0} has a time range, which needs format version 3 or later")]
    Range(String),
    /// The time of another write or delete is within the time range of a fragment without cell
    /// timestamps.
    #[error(
        "fragment {0} has a time range that this format stores differently, and another write or delete falls within it: vacuum the array first, or drop the history"
    )]
    Between(String),
    /// A sparse fragment in a dense array.
    #[error(
        "fragment {0} is sparse in a dense array: new arrays cannot contain sparse fragments (without the history, the cells can be copied)"
    )]
    SparseInDense(String),
    /// Several fragments may be the consolidated fragment of a vacuum file.
    #[error("{0} lists consolidated fragments, but several fragments may be their replacement: vacuum the array first")]
    NotVacuumed(String),
    /// Some of the fragments listed in a vacuum file are deleted. Readers of earlier times see only
    /// the remaining fragments.
    #[error(
        "{0} lists fragments of which some are deleted, and readers of earlier times see only the others: vacuum the array first, or drop the history"
    )]
    PartlyGone(String),
    /// Cells were updated by a condition.
    #[error("{0} updates cells by a condition, which is not supported")]
    Update(String),
    /// The array of a dimension label is outside of this array.
    #[error("the array of dimension label {0:?} is outside of this array")]
    OutsideLabel(String),
    /// A migration of a dense array without its history would write many more cells than are
    /// stored.
    #[error(
        "without the history, {cells} cells would be written, where {stored} are stored: the cells are far apart (try smaller tile extents, or keep the history)"
    )]
    Spread {
        /// Number of cells to be written.
        cells: u128,
        /// Upper bound of the number of stored cells.
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
    #[error("no {what} is named {name:?}")]
    NoSuchField {
        /// Kind of field.
        what: &'static str,
        /// Name of the field.
        name: String,
    },
}
