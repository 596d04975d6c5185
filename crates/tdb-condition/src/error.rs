//! Errors of conditions.

use tdb_generic_tile::GenericTileError;
use tdb_types::datetime::WrittenError;
use tdb_types::{Datatype, DecodeError};

/// An error of parsing, resolving, binding or writing a condition.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConditionError {
    /// The bytes are not a condition, or exceed a limit.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The generic tile of the condition cannot be read or written.
    #[error(transparent)]
    Tile(#[from] GenericTileError),
    /// The array does not have the field.
    #[error("condition: unknown field {field:?}{}", among(.known))]
    UnknownField {
        /// The name of the field.
        field: String,
        /// The names of all fields of the schema.
        known: Vec<String>,
    },
    /// Cells of the field can only be tested for null, not compared.
    #[error("condition: field {field:?} with {values} {datatype} per cell cannot be compared")]
    NotComparable {
        /// The field.
        field: String,
        /// The datatype of the field.
        datatype: Datatype,
        /// The number of values per cell.
        values: String,
    },
    /// The size of the value differs from the size of the field's cells.
    #[error("condition: field {field:?}: found a value of {found} bytes, expected {expected} bytes like its cells")]
    WrongSize {
        /// The field.
        field: String,
        /// The size of a cell in bytes.
        expected: usize,
        /// The size of the value in bytes.
        found: usize,
    },
    /// No cell of the field can have the value.
    #[error("condition: {value} is not a value of {datatype}, the type of {}", type_of(.field, .enumeration.as_deref()))]
    NotAValue {
        /// The field.
        field: String,
        /// The value as written.
        value: String,
        /// The datatype of the field, or of its enumeration's values.
        datatype: Datatype,
        /// The enumeration of the field, if any.
        enumeration: Option<String>,
    },
    /// The value is a number that could also be a date, or has the suffix of another unit.
    #[error("condition: field {field:?}: {why}")]
    UnclearDate {
        /// The field.
        field: String,
        /// The ambiguity, and how to resolve it.
        why: WrittenError,
    },
    /// The enumeration of the field has no order.
    #[error(
        "condition: enumeration {enumeration:?} of field {field:?} is not ordered; compare its values with = or !="
    )]
    Unordered {
        /// The field.
        field: String,
        /// The enumeration.
        enumeration: String,
    },
    /// A stored condition orders cells of several `char`. Other readers compare only the first
    /// `char`.
    #[error(
        "condition: a delete cannot compare the order of field {field:?}, because the reference library \
         compares only the first char of a cell"
    )]
    OrderOfCharacters {
        /// The field.
        field: String,
    },
    /// The enumeration of the field was not found.
    #[error("condition: enumeration {enumeration:?} of field {field:?} is not loaded")]
    EnumerationMissing {
        /// The field.
        field: String,
        /// The enumeration.
        enumeration: String,
    },
    /// A stored condition uses a value without an index in the enumeration, or an index too large
    /// for cells.
    #[error(
        "condition: {value:?} is not among the values of enumeration {enumeration:?} that field {field:?} can represent"
    )]
    NotEnumerated {
        /// The field.
        field: String,
        /// The enumeration.
        enumeration: String,
        /// The value, as text.
        value: String,
    },
    /// The condition is nested too deep.
    #[error("condition: nested deeper than {most} levels")]
    TooDeep {
        /// The maximum depth.
        most: u32,
    },
    /// The condition is too deep or too large for readers of delete commits.
    #[error("condition: found {found} {what}, expected at most {most} in a stored condition; delete in several steps")]
    TooLarge {
        /// The exceeded quantity: levels, or comparisons and combinations.
        what: &'static str,
        /// The number found.
        found: u32,
        /// The maximum that readers accept.
        most: u32,
    },
    /// The field does not have floats.
    #[error("condition: no cell of field {field:?} can be NaN, because the datatype is {datatype}")]
    NoNan {
        /// The field.
        field: String,
        /// The datatype of the field.
        datatype: Datatype,
    },
    /// A stored condition cannot test for NaN.
    #[error("condition: cannot store a test of field {field:?} for NaN, which the format does not support")]
    NanTest {
        /// The field.
        field: String,
    },
    /// A stored condition cannot test for null.
    #[error(
        "condition: cannot store a test of field {field:?} for null, because releases of the reference library misread it"
    )]
    NullTest {
        /// The field.
        field: String,
    },
}

/// Lists the known names, unless there are more than 20.
fn among(known: &[String]) -> String {
    if known.is_empty() || known.len() > 20 { String::new() } else { format!("; expected one of {}", known.join(", ")) }
}

fn type_of(field: &str, enumeration: Option<&str>) -> String {
    match enumeration {
        Some(enumeration) => format!("enumeration {enumeration:?} of field {field:?}"),
        None => format!("field {field:?}"),
    }
}

impl ConditionError {
    /// Returns `true` if the bytes use an unsupported feature rather than being damaged.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::Decode(error) => error.is_unsupported(),
            Self::Tile(error) => error.is_unsupported(),
            _ => false,
        }
    }
}

/// A result with a [`ConditionError`].
pub type Result<T, E = ConditionError> = std::result::Result<T, E>;
