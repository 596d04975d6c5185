//! Values in comparisons.

use std::borrow::Cow;

use tdb_types::datetime::{self, Written, WrittenError};
use tdb_types::{CellValNum, Datatype, PhysicalType, Scalar};

/// A value to compare a field with: the bytes of a cell, a number, or text.
///
/// Binding a condition to a schema converts numbers and text to the type of the field. For example,
/// `30` becomes `30.0` for a float, and `"2024-05-01"` becomes a date for a date field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Literal {
    bytes: Vec<u8>,
    kind: LiteralKind,
}

/// The kind of bytes in a [`Literal`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LiteralKind {
    /// The bytes of a cell.
    #[default]
    Cell,
    /// A little-endian number of this type.
    Number(PhysicalType),
    /// UTF-8 text.
    Text,
}

impl Literal {
    /// Creates a literal from bytes. Does not check that the bytes match `kind`.
    #[must_use]
    pub fn new(kind: LiteralKind, bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), kind }
    }

    /// Returns the bytes of the cell, of the little-endian number, or of the text.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the kind of the bytes.
    #[must_use]
    pub fn kind(&self) -> LiteralKind {
        self.kind
    }
}

/// Creates a literal from the bytes of a cell.
impl From<Vec<u8>> for Literal {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(LiteralKind::Cell, bytes)
    }
}

/// A type that fields can be compared with: numbers, booleans, text, and bytes of cells.
pub trait Value {
    /// Converts the value to a literal.
    fn into_literal(self) -> Literal;
}

impl Value for Literal {
    fn into_literal(self) -> Literal {
        self
    }
}

macro_rules! numbers {
    ($($type:ty: $physical:ident),*) => {$(
        impl Value for $type {
            fn into_literal(self) -> Literal {
                Literal::new(LiteralKind::Number(PhysicalType::$physical), self.to_le_bytes())
            }
        }
    )*};
}

numbers!(i8: I8, u8: U8, i16: I16, u16: U16, i32: I32, u32: U32, i64: I64, u64: U64, f32: F32, f64: F64);

impl Value for bool {
    fn into_literal(self) -> Literal {
        u8::from(self).into_literal()
    }
}

macro_rules! texts {
    ($($type:ty: $kind:ident),*) => {$(
        impl Value for $type {
            fn into_literal(self) -> Literal {
                Literal::new(LiteralKind::$kind, self)
            }
        }
    )*};
}

texts!(&str: Text, String: Text, &[u8]: Cell, Vec<u8>: Cell);

impl<const N: usize> Value for &[u8; N] {
    fn into_literal(self) -> Literal {
        Literal::new(LiteralKind::Cell, *self)
    }
}

/// A literal, converted for cells of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning<'a> {
    /// The bytes of a cell.
    Cell(Cow<'a, [u8]>),
    /// The first and the last value within the period of a date. A date that is more precise than
    /// the cells may fall between two values. The first value then exceeds the last.
    Period(i64, i64),
}

/// Converts the bytes of a literal for cells of this type.
///
/// # Errors
/// Fails if no cell can have the value, or if the text could be either a date or a number.
pub(crate) fn meaning(
    bytes: &[u8],
    kind: LiteralKind,
    datatype: Datatype,
    cell_val_num: CellValNum,
) -> Result<Meaning<'_>, WrittenError> {
    let cell = Meaning::Cell(Cow::Borrowed(bytes));
    let number = |value: Scalar| Meaning::Cell(Cow::Owned(value.to_le_bytes().to_vec()));
    let converted = |physical| convert(Scalar::from_le_bytes(physical, bytes)?, datatype.physical()).map(number);
    match kind {
        LiteralKind::Cell => Ok(cell),
        LiteralKind::Text if is_text(datatype) => Ok(cell),
        // In C, a character literal is a one-byte number. Wider numbers are never text.
        LiteralKind::Number(physical) if is_text(datatype) => {
            let is_char = datatype == Datatype::Char && cell_val_num == CellValNum::ONE && physical.size() == 1;
            if is_char { Ok(cell) } else { Err(WrittenError::NotAValue) }
        }
        LiteralKind::Number(physical) if physical == datatype.physical() => Ok(cell),
        LiteralKind::Number(physical) => converted(physical).ok_or(WrittenError::NotAValue),
        LiteralKind::Text => {
            let text = std::str::from_utf8(bytes).map_err(|_| WrittenError::NotAValue)?;
            Ok(match datetime::written(datatype, text)? {
                Written::One(value) => number(value),
                Written::Period(first, last) => Meaning::Period(first, last),
            })
        }
    }
}

/// Converts a number to another type. A conversion to an integer type must be exact. A conversion
/// to a float type rounds to nearest. Returns `None` if the number does not fit.
fn convert(value: Scalar, to: PhysicalType) -> Option<Scalar> {
    match to {
        PhysicalType::F64 => Some(Scalar::F64(value.to_f64())),
        #[allow(clippy::cast_possible_truncation)] // rounding is intended, and overflow is rejected
        PhysicalType::F32 => {
            let (wide, narrow) = (value.to_f64(), value.to_f64() as f32);
            (narrow.is_finite() || !wide.is_finite()).then_some(Scalar::F32(narrow))
        }
        integer => Scalar::parse(integer, &whole(value)?.to_string()),
    }
}

/// Returns the number as an integer, or `None` if it has a fraction or is infinite, NaN or too
/// large.
fn whole(value: Scalar) -> Option<i128> {
    value.to_integer().or_else(|| {
        let float = value.to_f64();
        // No integer type exceeds this limit.
        let fits = float.fract() == 0.0 && float.abs() < 2f64.powi(65);
        #[allow(clippy::cast_possible_truncation)] // it is whole and small enough
        fits.then_some(float as i128)
    })
}

/// Returns `true` if cells of the datatype compare as byte strings.
pub(crate) fn is_text(datatype: Datatype) -> bool {
    matches!(datatype, Datatype::Char | Datatype::StringAscii | Datatype::StringUtf8)
}

/// Formats the value as written in a condition.
pub(crate) fn shown(bytes: &[u8], kind: LiteralKind) -> String {
    match kind {
        LiteralKind::Number(physical) => {
            Scalar::from_le_bytes(physical, bytes).map_or_else(String::new, |value| value.to_string())
        }
        LiteralKind::Cell | LiteralKind::Text => format!("\"{}\"", bytes.escape_ascii()),
    }
}
