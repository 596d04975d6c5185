//! What can go wrong between arrays and Arrow.

use arrow_schema::{ArrowError, DataType};
use tdb_array::tdb_schema::SchemaError;
use tdb_array::tdb_types::Datatype;
use tdb_array::{ArrayError, CellsError};
use tdb_schema_text::SchemaTextError;

/// An error of this crate; those about cells say which field and which cell of the batch.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The array can't be read, written or made.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// What an array is to be made from contradicts itself or the format.
    #[error("the new schema: {0}")]
    Schema(#[from] SchemaError),
    /// The definition in the metadata of an Arrow schema can't be read.
    #[error("the metadata {key:?} of the Arrow schema: {source}", key = crate::SCHEMA_KEY)]
    Definition {
        /// What is wrong with it.
        #[source]
        source: SchemaTextError,
    },
    /// An Arrow schema that wasn't made from an array doesn't say what an array needs to know.
    #[error("the Arrow schema says nothing of an array (no metadata {key:?}); name its dimensions", key = crate::SCHEMA_KEY)]
    NoDefinition,
    /// An array can't hold values of this Arrow type.
    #[error("field {field:?}: an array can't hold {data_type}: {why}")]
    Refused {
        /// The field.
        field: String,
        /// Its Arrow type.
        data_type: DataType,
        /// Why not, and what to do.
        why: &'static str,
    },
    /// A column of a batch has another type than the array's field.
    #[error("field {field:?}: {data_type} doesn't fit {per_cell} of {datatype}")]
    WrongType {
        /// The field.
        field: String,
        /// The Arrow type of the column.
        data_type: DataType,
        /// What the array's field holds.
        datatype: Datatype,
        /// How many of that a cell has, in words.
        per_cell: String,
    },
    /// A cell can't be told in the other's terms.
    #[error("cell {cell}, field {field:?}: {problem}")]
    Cell {
        /// The field.
        field: String,
        /// Which cell of the batch, counted from 0.
        cell: usize,
        /// What is wrong with it.
        problem: Problem,
    },
    /// A value of an enumeration can't be told in Arrow's terms.
    #[error("value {value} of enumeration {enumeration:?}: {problem}")]
    Enumeration {
        /// The enumeration.
        enumeration: String,
        /// Its position.
        value: usize,
        /// What is wrong with it.
        problem: Problem,
    },
    /// The values of a batch are too many for offsets of 32 bits.
    #[error(
        "field {field:?}: {values} values in a batch are too many for offsets of 32 bits; use larger offsets, or smaller batches"
    )]
    TooLarge {
        /// The field.
        field: String,
        /// How many there are.
        values: u64,
    },
    /// A batch that doesn't have the columns that its schema was made for.
    #[error("a batch with the columns {found:?}, for a schema of {expected:?}")]
    Columns {
        /// The names of the schema's fields.
        expected: Vec<String>,
        /// Those of the batch.
        found: Vec<String>,
    },
    /// A field that something needs isn't in the Arrow schema.
    #[error("the Arrow schema has no field {field:?}, which the array needs: {why}")]
    MissingField {
        /// The field.
        field: String,
        /// What for.
        why: &'static str,
    },
    /// Arrow itself refuses what was made.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

/// What is wrong with a cell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Bytes that are no text.
    #[error("not valid UTF-8; read strings as binary to have their bytes")]
    NotUtf8,
    /// A position that an enumeration doesn't have.
    #[error("position {position} is outside of enumeration {enumeration:?}, which has {len} values")]
    OutsideEnumeration {
        /// The enumeration.
        enumeration: String,
        /// The position.
        position: i128,
        /// How many values it has.
        len: usize,
    },
    /// A value that an enumeration doesn't have.
    #[error("{value} isn't in enumeration {enumeration:?}; extend that first")]
    NotInEnumeration {
        /// The enumeration.
        enumeration: String,
        /// The value, as text.
        value: String,
    },
    /// A date or time that the other side's type has no room for.
    #[error("{value} of {datatype} is beyond what the other type can hold")]
    OutOfRange {
        /// The number of units, on the side that it comes from.
        value: i64,
        /// The array's datatype.
        datatype: Datatype,
    },
    /// A date or time that lies between two values of the array's unit.
    #[error("{value} is no whole number of units of {datatype}")]
    NotWhole {
        /// The number of units in Arrow.
        value: i64,
        /// The array's datatype.
        datatype: Datatype,
    },
    /// A number that the array's datatype doesn't have.
    #[error("{value} is no {datatype}")]
    DoesNotFit {
        /// The number.
        value: String,
        /// The array's datatype.
        datatype: Datatype,
    },
    /// A value in a list is null, which an array can't say.
    #[error("a null in a list; arrays have null cells, but no null values within one")]
    NullInList,
}

/// A result whose error names the field, and the cell where it is about one.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<CellsError> for Error {
    fn from(error: CellsError) -> Self {
        Self::Array(error.into())
    }
}
