//! Errors about cells.

use tdb_schema::SchemaError;
use tdb_types::{Datatype, ErrorCategory, PhysicalType};

/// The error of a query cancelled through a [`Monitor`](crate::Monitor).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// An error with the field, dimension or cell at fault, and the reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CellsError {
    /// A column was requested as another type.
    #[error("field {field:?} has {datatype} values, not {asked:?}")]
    WrongType {
        /// The field.
        field: String,
        /// The datatype of the field.
        datatype: Datatype,
        /// The requested type.
        asked: PhysicalType,
    },
    /// The array does not have the field.
    #[error("unknown field {name:?}; the array has {}", list_of_names(known))]
    UnknownField {
        /// The requested name.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// The [`Batch`](crate::Batch) does not have the column.
    #[error("unknown column {name:?}; the batch has {}", list_of_names(known))]
    UnknownColumn {
        /// The requested name.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// The array does not have the dimension.
    #[error("unknown dimension {name:?}; the array has {}", list_of_names(known))]
    UnknownDimension {
        /// The requested name.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// A range is invalid for the dimension.
    #[error("range {range} on dimension {dimension:?}: {why}")]
    Range {
        /// The dimension.
        dimension: String,
        /// The range as given.
        range: String,
        /// The reason. Includes the domain if the range exceeds the domain.
        why: String,
    },
    /// A point is invalid.
    #[error("point {point}, dimension {dimension:?}: {why}")]
    Point {
        /// The dimension.
        dimension: String,
        /// The index of the point in the table, from 0.
        point: u64,
        /// The problem with the coordinate.
        why: String,
    },
    /// New cells lack a field, or points lack a dimension.
    #[error("missing column for field {name:?}; give one column per field, or for points one per dimension")]
    MissingColumn {
        /// The field.
        name: String,
    },
    /// New cells contain a field twice, or points contain a dimension twice.
    #[error("more than one column for field {name:?}")]
    RepeatedColumn {
        /// The field.
        name: String,
    },
    /// The buffers of a column do not form cells of the field, or the columns differ in length.
    #[error("column {field:?}: {what}")]
    ColumnShape {
        /// The field.
        field: String,
        /// The problem.
        what: String,
    },
    /// A cell cannot be written.
    #[error("cell {cell}, field {field:?}: {problem}")]
    Cell {
        /// The field. The first dimension if the problem concerns the coordinates of all
        /// dimensions.
        field: String,
        /// The index of the cell in the input, from 0.
        cell: u64,
        /// The problem.
        problem: CellProblem,
    },
    /// The schema is in Hilbert order, but has too many dimensions for the curve.
    #[error("array schema: {0}")]
    Schema(SchemaError),
}

/// The reason why a cell cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CellProblem {
    /// A coordinate is outside of the dimension's domain or current domain.
    #[error("{value} is outside of the {domain}")]
    OutsideDomain {
        /// The coordinate.
        value: String,
        /// The kind of domain, and the bounds.
        domain: String,
    },
    /// The field is not nullable.
    #[error("null, but the field is not nullable")]
    Null,
    /// A string of a UTF-8 field is not valid UTF-8.
    #[error("not valid UTF-8")]
    NotUtf8,
    /// The offsets of the cell descend or exceed the number of values.
    #[error("offsets {start}..{end} descend or exceed the {len} values")]
    Offsets {
        /// The start of the cell.
        start: u64,
        /// The end of the cell.
        end: u64,
        /// The number of values.
        len: u64,
    },
    /// Another cell has the same coordinates, and the array does not allow duplicates.
    #[error("same coordinates as cell {other}")]
    Duplicate {
        /// The index of the other cell in the input, from 0.
        other: u64,
    },
    /// A filter of the field cannot represent the value.
    #[error("{filter} cannot store {value}, expected {expected}")]
    Unstorable {
        /// The filter.
        filter: &'static str,
        /// The value.
        value: Box<str>,
        /// The representable values.
        expected: Box<str>,
    },
    /// The cell is not in order.
    #[error("sorts before the previous cell; expected cells in {order}")]
    OutOfOrder {
        /// The expected order.
        order: &'static str,
    },
}

impl CellsError {
    /// Returns the category of the error, which determines the reaction of the caller.
    #[must_use]
    pub fn category(&self) -> ErrorCategory {
        match self {
            Self::Schema(source) if source.is_unsupported() => ErrorCategory::Unsupported,
            Self::Schema(_) => ErrorCategory::Corrupt,
            _ => ErrorCategory::Usage,
        }
    }
}

/// Formats up to 12 names for a message, followed by the number of further names. Returns `none`
/// without names.
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
