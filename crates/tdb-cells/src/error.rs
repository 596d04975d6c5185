//! What can go wrong with cells.

use tdb_schema::SchemaError;
use tdb_types::{Datatype, ErrorCategory, PhysicalType};

/// Somebody has asked to end a query, by its [`Monitor`](crate::Monitor).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// An error of this crate: which field, dimension or cell is at fault, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CellsError {
    /// A column was asked for as another type than it has.
    #[error("field {field:?} holds {datatype} values, not {asked:?}")]
    WrongType {
        /// The field.
        field: String,
        /// What it holds.
        datatype: Datatype,
        /// The type asked for.
        asked: PhysicalType,
    },
    /// The query names a field that the array doesn't have.
    #[error("no field {name:?}; the array has {}", list_of_names(known))]
    UnknownField {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The query names a dimension that the array doesn't have.
    #[error("no dimension {name:?}; the array has {}", list_of_names(known))]
    UnknownDimension {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A range can't be asked of its dimension.
    #[error("range {range} on dimension {dimension:?}: {why}")]
    Range {
        /// The dimension.
        dimension: String,
        /// The range as given.
        range: String,
        /// Why the range is rejected, and a range that fits.
        why: String,
    },
    /// A point can't be asked for.
    #[error("point {point}, dimension {dimension:?}: {why}")]
    Point {
        /// The dimension.
        dimension: String,
        /// The number of the point in its table, the first being 0.
        point: u64,
        /// What is wrong with its coordinate.
        why: String,
    },
    /// Cells to be written lack a field, or points a dimension.
    #[error("no column for field {name:?}; each field of the array, or of points each dimension, needs one")]
    MissingColumn {
        /// The field.
        name: String,
    },
    /// Cells to be written have a field twice, or points a dimension.
    #[error("more than one column for field {name:?}")]
    RepeatedColumn {
        /// The field.
        name: String,
    },
    /// The buffers of a column don't make up cells of its field, or not as many as the other columns do.
    #[error("column {field:?}: {what}")]
    ColumnShape {
        /// The field.
        field: String,
        /// What is wrong with it.
        what: String,
    },
    /// A cell can't be written.
    #[error("cell {cell}, field {field:?}: {problem}")]
    Cell {
        /// The field, or the first dimension if it is about all coordinates.
        field: String,
        /// Which of the cells given, counted from 0.
        cell: u64,
        /// What is wrong with it.
        problem: CellProblem,
    },
    /// The schema has no order of cells.
    #[error("array schema: {0}")]
    Schema(SchemaError),
}

/// Why a cell can't be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CellProblem {
    /// A coordinate lies outside of the dimension's domain, or of its current domain.
    #[error("{value} is outside of the {domain}")]
    OutsideDomain {
        /// The coordinate.
        value: String,
        /// Which domain, and its bounds.
        domain: String,
    },
    /// The field isn't nullable.
    #[error("null, but the field is not nullable")]
    Null,
    /// A string isn't what its datatype promises.
    #[error("not valid UTF-8")]
    NotUtf8,
    /// The cell's offsets run backwards, or past the end of the values.
    #[error("its offsets {start}..{end} run backwards or past the {len} values")]
    Offsets {
        /// Where the cell begins.
        start: u64,
        /// Where it ends.
        end: u64,
        /// How many values there are.
        len: u64,
    },
    /// Another cell has the same coordinates, and the array doesn't allow that.
    #[error("its coordinates are those of cell {other}")]
    Duplicate {
        /// The other cell.
        other: u64,
    },
    /// A filter of the field can't represent the value.
    #[error("{filter} cannot store {value}, expected {expected}")]
    Unstorable {
        /// The filter.
        filter: &'static str,
        /// The value.
        value: Box<str>,
        /// The values that it can represent.
        expected: Box<str>,
    },
    /// The cell belongs before the one before it.
    #[error("it comes before the cell before it; cells must come in {order}")]
    OutOfOrder {
        /// The order that is expected.
        order: &'static str,
    },
}

impl CellsError {
    /// What a caller may do about it.
    #[must_use]
    pub fn category(&self) -> ErrorCategory {
        match self {
            Self::Schema(source) if source.is_unsupported() => ErrorCategory::Unsupported,
            Self::Schema(_) => ErrorCategory::Corrupt,
            _ => ErrorCategory::Usage,
        }
    }
}

/// Names in a message, as many as anybody reads.
#[must_use]
pub fn list_of_names(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let mut text = names.iter().take(12).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if names.len() > 12 {
        text.push_str(&format!(" and {} more", names.len() - 12));
    }
    text
}
