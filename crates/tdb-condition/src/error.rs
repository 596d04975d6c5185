//! What can be wrong with a condition.

use tdb_generic_tile::GenericTileError;
use tdb_types::datetime::WrittenError;
use tdb_types::{Datatype, DecodeError};

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConditionError {
    /// Bytes that aren't a condition.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The generic tile around it is damaged or beyond this library.
    #[error(transparent)]
    Tile(#[from] GenericTileError),
    /// The array has no such field.
    #[error("condition: there is no field {field:?}{}", among(.known))]
    UnknownField {
        /// The name.
        field: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Cells of the field can't be compared, only tested for null.
    #[error("condition: field {field:?} of {values} {datatype} per cell can't be compared")]
    NotComparable {
        /// The field.
        field: String,
        /// Its datatype.
        datatype: Datatype,
        /// How many values its cells have.
        values: String,
    },
    /// The value isn't one of the field's type.
    #[error("condition: field {field:?} is compared with a value of {found} bytes; its cells have {expected}")]
    WrongSize {
        /// The field.
        field: String,
        /// Bytes of its cells.
        expected: usize,
        /// Bytes of the value.
        found: usize,
    },
    /// No cell of the field can have the value.
    #[error("condition: {value} is not a value of {datatype}, the type of {}", type_of(.field, .enumeration.as_deref()))]
    NotAValue {
        /// The field.
        field: String,
        /// The value as it was written.
        value: String,
        /// The datatype of the field, or of its enumeration's values.
        datatype: Datatype,
        /// The field's enumeration, if it has one.
        enumeration: Option<String>,
    },
    /// A number may be a date, or counts other units than the field.
    #[error("condition: field {field:?}: {why}")]
    UnclearDate {
        /// The field.
        field: String,
        /// What is unclear, and how to write it.
        why: WrittenError,
    },
    /// The field's enumeration has no order.
    #[error("condition: enumeration {enumeration:?} of field {field:?} has no order; its values are equal or not")]
    Unordered {
        /// The field.
        field: String,
        /// The enumeration.
        enumeration: String,
    },
    /// A condition that is to be stored orders cells of several `char`, of which other readers compare the first alone.
    #[error(
        "condition: a delete can't order field {field:?}: the reference library compares only the first char of its cells"
    )]
    OrderOfCharacters {
        /// The field.
        field: String,
    },
    /// The field's enumeration wasn't at hand.
    #[error("condition: enumeration {enumeration:?} of field {field:?} is not loaded")]
    EnumerationMissing {
        /// The field.
        field: String,
        /// The enumeration.
        enumeration: String,
    },
    /// A condition that is to be stored names a value that no cell can have: stored are positions in the enumeration.
    #[error(
        "condition: {value:?} is not among the values of enumeration {enumeration:?} that field {field:?} can hold"
    )]
    NotEnumerated {
        /// The field.
        field: String,
        /// The enumeration.
        enumeration: String,
        /// The value, as text.
        value: String,
    },
    /// It nests deeper than it could be taken apart.
    #[error("condition: it nests deeper than {most}")]
    TooDeep {
        /// How deep it may nest.
        most: u32,
    },
    /// Readers refuse a delete commit that nests so deep or holds so much.
    #[error("condition: it has {found} {what}, and at most {most} can be stored; delete in several steps")]
    TooLarge {
        /// What it has: levels, or comparisons and combinations.
        what: &'static str,
        /// How many.
        found: u32,
        /// How many readers take.
        most: u32,
    },
    /// Cells of the field are no floats.
    #[error("condition: no cell of field {field:?} can be a NaN: they are {datatype}")]
    NoNan {
        /// The field.
        field: String,
        /// What it holds.
        datatype: Datatype,
    },
    /// Stored conditions can't express a test for NaN.
    #[error("condition: a test of field {field:?} for NaN can't be stored: the format has none")]
    NanTest {
        /// The field.
        field: String,
    },
    /// Stored conditions can't express a test for null.
    #[error("condition: a test of field {field:?} for null can't be stored: releases misread it")]
    NullTest {
        /// The field.
        field: String,
    },
}

/// What there is, if that is little enough to be listed.
fn among(known: &[String]) -> String {
    if known.is_empty() || known.len() > 20 { String::new() } else { format!("; there are {}", known.join(", ")) }
}

fn type_of(field: &str, enumeration: Option<&str>) -> String {
    match enumeration {
        Some(enumeration) => format!("enumeration {enumeration:?} of field {field:?}"),
        None => format!("field {field:?}"),
    }
}

impl ConditionError {
    /// Whether the bytes are sound but beyond this library.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::Decode(error) => error.is_unsupported(),
            Self::Tile(error) => error.is_unsupported(),
            _ => false,
        }
    }
}

/// A result whose error says what is wrong with a condition.
pub type Result<T, E = ConditionError> = std::result::Result<T, E>;
