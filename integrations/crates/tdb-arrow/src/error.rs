//! Errors of conversions between arrays and Arrow.

use arrow_schema::{ArrowError, DataType};
use tdb_array::tdb_schema::SchemaError;
use tdb_array::tdb_types::Datatype;
use tdb_array::{ArrayError, CellsError};
use tdb_schema_text::SchemaTextError;

/// Error of this crate. Errors about cells name the field and the index of the cell in the batch.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading, writing or creating the array failed.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// The new schema contradicts itself or the format.
    #[error("invalid new schema: {0}")]
    Schema(#[from] SchemaError),
    /// The definition in the metadata of an Arrow schema is unreadable.
    #[error("invalid metadata {key:?} of the Arrow schema: {source}", key = crate::SCHEMA_KEY)]
    Definition {
        /// Cause.
        #[source]
        source: SchemaTextError,
    },
    /// The metadata of the Arrow schema has no array definition. Therefore the dimensions are
    /// unknown.
    #[error("the Arrow schema has no array definition (metadata {key:?}); name the dimensions", key = crate::SCHEMA_KEY)]
    NoDefinition,
    /// An array cannot hold values of this Arrow type.
    #[error("field {field:?}: arrays do not support {data_type}: {why}")]
    Refused {
        /// Name of the field.
        field: String,
        /// Arrow type of the field.
        data_type: DataType,
        /// Reason, and a hint where one exists.
        why: &'static str,
    },
    /// A column of a batch has another type than the field of the array.
    #[error("field {field:?}: cannot convert {data_type} to {per_cell} of {datatype}")]
    WrongType {
        /// Name of the field.
        field: String,
        /// Arrow type of the column.
        data_type: DataType,
        /// Datatype of the array's field.
        datatype: Datatype,
        /// Number of values per cell, in words.
        per_cell: String,
    },
    /// A cell cannot be converted.
    #[error("cell {cell}, field {field:?}: {problem}")]
    Cell {
        /// Name of the field.
        field: String,
        /// Index of the cell in the batch, from 0.
        cell: usize,
        /// Cause.
        problem: Problem,
    },
    /// A value of an enumeration cannot be converted to Arrow.
    #[error("value {value} of enumeration {enumeration:?}: {problem}")]
    Enumeration {
        /// Name of the enumeration.
        enumeration: String,
        /// Position of the value.
        value: usize,
        /// Cause.
        problem: Problem,
    },
    /// A batch has too many values for 32-bit offsets.
    #[error(
        "field {field:?}: {values} values in a batch exceed offsets of 32 bits; use larger offsets, or smaller batches"
    )]
    TooLarge {
        /// Name of the field.
        field: String,
        /// Number of values.
        values: u64,
    },
    /// The columns of a batch differ from the schema of the conversion.
    #[error("the batch does not fit the schema: expected columns {expected:?}, found {found:?}")]
    Columns {
        /// Field names of the schema.
        expected: Vec<String>,
        /// Column names of the batch.
        found: Vec<String>,
    },
    /// The Arrow schema lacks a required field.
    #[error("the Arrow schema lacks field {field:?}: {why}")]
    MissingField {
        /// Name of the field.
        field: String,
        /// Reason why the field is required.
        why: &'static str,
    },
    /// Arrow rejected the data.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

/// Cause of an error about a cell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The bytes are not valid UTF-8.
    #[error("not valid UTF-8; read strings as binary to get their bytes")]
    NotUtf8,
    /// The position is outside of the enumeration.
    #[error("position {position} is outside of enumeration {enumeration:?} with {len} values")]
    OutsideEnumeration {
        /// Name of the enumeration.
        enumeration: String,
        /// The position.
        position: i128,
        /// Number of values in the enumeration.
        len: usize,
    },
    /// The value is missing from the enumeration.
    #[error("{value} is not in enumeration {enumeration:?}; extend the enumeration first")]
    NotInEnumeration {
        /// Name of the enumeration.
        enumeration: String,
        /// The value, as text.
        value: String,
    },
    /// A date or time overflows the target type.
    #[error("{value} of {datatype} is out of range of the target type")]
    OutOfRange {
        /// Number of units before the conversion.
        value: i64,
        /// Datatype of the array.
        datatype: Datatype,
    },
    /// A date or time is between two values of the array's unit.
    #[error("{value} is not a multiple of the unit of {datatype}")]
    NotWhole {
        /// Number of units in Arrow.
        value: i64,
        /// Datatype of the array.
        datatype: Datatype,
    },
    /// A number outside of the array's datatype.
    #[error("{value} is not a valid {datatype}")]
    DoesNotFit {
        /// The number, as text.
        value: String,
        /// Datatype of the array.
        datatype: Datatype,
    },
    /// A list contains a null. A cell of an array cannot contain null values.
    #[error("null in a list; arrays support null cells, but not null values in a cell")]
    NullInList,
}

/// Result with an [`Error`], unless another error type is given.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<CellsError> for Error {
    fn from(error: CellsError) -> Self {
        Self::Array(error.into())
    }
}
