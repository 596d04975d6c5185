//! Values that fields are compared with.

use std::borrow::Cow;

use tdb_types::datetime::{self, Written, WrittenError};
use tdb_types::{CellValNum, Datatype, PhysicalType, Scalar};

/// A value that a field is compared with: bytes as cells hold them, a number, or text.
///
/// Numbers and text become a value of the field's own type when a condition is bound to a schema: `30` is `30.0` for a
/// float, and `"2024-05-01"` a date where dates are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Literal {
    bytes: Vec<u8>,
    kind: LiteralKind,
}

/// What the bytes of a [`Literal`] are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LiteralKind {
    /// The bytes of a cell.
    #[default]
    Cell,
    /// A little-endian number of this type.
    Number(PhysicalType),
    /// Text in UTF-8.
    Text,
}

impl Literal {
    /// From its bytes.
    #[must_use]
    pub fn new(kind: LiteralKind, bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), kind }
    }

    /// Its bytes: those of a cell or number, little-endian, or of text.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What the bytes are.
    #[must_use]
    pub fn kind(&self) -> LiteralKind {
        self.kind
    }
}

/// Bytes of a cell.
impl From<Vec<u8>> for Literal {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(LiteralKind::Cell, bytes)
    }
}

/// What a field can be compared with: numbers, text, and the bytes of cells.
pub trait Value {
    /// The literal.
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

/// What a literal is for cells of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning<'a> {
    /// The bytes of a cell.
    Cell(Cow<'a, [u8]>),
    /// A date that is less precise than the cells, or more: the first and the last value within it, in this order if there
    /// are any, and the other way round if it lies between two values.
    Period(i64, i64),
}

/// What the bytes of a literal mean for cells of this type.
///
/// # Errors
/// No cell can hold such a value, or the text may be a date or a number.
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
        // One character is a number of one byte for those who write C; nothing else is both.
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

/// The same number in another type: integers exactly, or not at all; floats rounded to the nearest.
fn convert(value: Scalar, to: PhysicalType) -> Option<Scalar> {
    match to {
        PhysicalType::F64 => Some(Scalar::F64(value.to_f64())),
        #[allow(clippy::cast_possible_truncation)] // rounding is what is asked for; what overflows is refused
        PhysicalType::F32 => {
            let (wide, narrow) = (value.to_f64(), value.to_f64() as f32);
            (narrow.is_finite() || !wide.is_finite()).then_some(Scalar::F32(narrow))
        }
        integer => Scalar::parse(integer, &whole(value)?.to_string()),
    }
}

/// The integer that a number is.
fn whole(value: Scalar) -> Option<i128> {
    value.to_integer().or_else(|| {
        let float = value.to_f64();
        // Beyond this no integer type reaches.
        let fits = float.fract() == 0.0 && float.abs() < 2f64.powi(65);
        #[allow(clippy::cast_possible_truncation)] // it is whole and small enough
        fits.then_some(float as i128)
    })
}

/// The datatypes whose cells are compared as strings of bytes.
pub(crate) fn is_text(datatype: Datatype) -> bool {
    matches!(datatype, Datatype::Char | Datatype::StringAscii | Datatype::StringUtf8)
}

/// The value as people write it.
pub(crate) fn shown(bytes: &[u8], kind: LiteralKind) -> String {
    match kind {
        LiteralKind::Number(physical) => {
            Scalar::from_le_bytes(physical, bytes).map_or_else(String::new, |value| value.to_string())
        }
        LiteralKind::Cell | LiteralKind::Text => format!("\"{}\"", bytes.escape_ascii()),
    }
}
