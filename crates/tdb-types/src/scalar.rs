//! A single value of a fixed-size datatype.

use std::fmt;

use crate::{PhysicalType, ScalarBytes};

/// A value of a physical type.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)] // each variant holds the Rust type of the same name
pub enum Scalar {
    I8(i8),
    U8(u8),
    I16(i16),
    U16(u16),
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    F32(f32),
    F64(f64),
}

/// Evaluates an expression with the inner value of a scalar.
macro_rules! with_value {
    ($scalar:expr, $value:ident => $body:expr) => {
        match $scalar {
            Scalar::I8($value) => $body,
            Scalar::U8($value) => $body,
            Scalar::I16($value) => $body,
            Scalar::U16($value) => $body,
            Scalar::I32($value) => $body,
            Scalar::U32($value) => $body,
            Scalar::I64($value) => $body,
            Scalar::U64($value) => $body,
            Scalar::F32($value) => $body,
            Scalar::F64($value) => $body,
        }
    };
}

impl Scalar {
    /// Decodes a value from little-endian bytes. Returns `None` unless the length is the size of
    /// the type.
    #[must_use]
    pub fn from_le_bytes(physical: PhysicalType, bytes: &[u8]) -> Option<Self> {
        Some(match physical {
            PhysicalType::I8 => Self::I8(i8::from_le_bytes(bytes.try_into().ok()?)),
            PhysicalType::U8 => Self::U8(u8::from_le_bytes(bytes.try_into().ok()?)),
            PhysicalType::I16 => Self::I16(i16::from_le_bytes(bytes.try_into().ok()?)),
            PhysicalType::U16 => Self::U16(u16::from_le_bytes(bytes.try_into().ok()?)),
            PhysicalType::I32 => Self::I32(i32::from_le_bytes(bytes.try_into().ok()?)),
            PhysicalType::U32 => Self::U32(u32::from_le_bytes(bytes.try_into().ok()?)),
            PhysicalType::I64 => Self::I64(i64::from_le_bytes(bytes.try_into().ok()?)),
            PhysicalType::U64 => Self::U64(u64::from_le_bytes(bytes.try_into().ok()?)),
            PhysicalType::F32 => Self::F32(f32::from_le_bytes(bytes.try_into().ok()?)),
            PhysicalType::F64 => Self::F64(f64::from_le_bytes(bytes.try_into().ok()?)),
        })
    }

    /// Encodes the value in little-endian order, in as many bytes as the type has.
    #[must_use]
    pub fn to_le_bytes(self) -> ScalarBytes {
        with_value!(self, value => ScalarBytes::new(&value.to_le_bytes()))
    }

    /// Returns the type of the value.
    #[must_use]
    pub fn physical(self) -> PhysicalType {
        match self {
            Self::I8(_) => PhysicalType::I8,
            Self::U8(_) => PhysicalType::U8,
            Self::I16(_) => PhysicalType::I16,
            Self::U16(_) => PhysicalType::U16,
            Self::I32(_) => PhysicalType::I32,
            Self::U32(_) => PhysicalType::U32,
            Self::I64(_) => PhysicalType::I64,
            Self::U64(_) => PhysicalType::U64,
            Self::F32(_) => PhysicalType::F32,
            Self::F64(_) => PhysicalType::F64,
        }
    }

    /// Parses decimal text. Returns `None` if the text is not a value of the type.
    #[must_use]
    pub fn parse(physical: PhysicalType, text: &str) -> Option<Self> {
        Some(match physical {
            PhysicalType::I8 => Self::I8(text.parse().ok()?),
            PhysicalType::U8 => Self::U8(text.parse().ok()?),
            PhysicalType::I16 => Self::I16(text.parse().ok()?),
            PhysicalType::U16 => Self::U16(text.parse().ok()?),
            PhysicalType::I32 => Self::I32(text.parse().ok()?),
            PhysicalType::U32 => Self::U32(text.parse().ok()?),
            PhysicalType::I64 => Self::I64(text.parse().ok()?),
            PhysicalType::U64 => Self::U64(text.parse().ok()?),
            PhysicalType::F32 => {
                Self::F32(text.parse().ok().filter(|value: &f32| !value.is_infinite() || is_word(text))?)
            }
            PhysicalType::F64 => {
                Self::F64(text.parse().ok().filter(|value: &f64| !value.is_infinite() || is_word(text))?)
            }
        })
    }

    /// Returns the [ordered key](crate::ordered_key).
    #[must_use]
    pub fn key(self) -> u64 {
        crate::ordered_key(self.physical(), &self.to_le_bytes())
    }

    /// Returns the value with this [ordered key](crate::ordered_key).
    #[must_use]
    pub fn from_key(physical: PhysicalType, key: u64) -> Self {
        let bytes = crate::from_ordered_key(physical, key);
        Self::from_le_bytes(physical, &bytes).unwrap_or(Self::U64(key))
    }

    /// Returns the value of an integer, or `None` for floats.
    #[must_use]
    pub fn to_integer(self) -> Option<i128> {
        Some(match self {
            Self::I8(value) => value.into(),
            Self::U8(value) => value.into(),
            Self::I16(value) => value.into(),
            Self::U16(value) => value.into(),
            Self::I32(value) => value.into(),
            Self::U32(value) => value.into(),
            Self::I64(value) => value.into(),
            Self::U64(value) => value.into(),
            Self::F32(_) | Self::F64(_) => return None,
        })
    }

    /// Converts the value to a double, rounding if necessary.
    #[must_use]
    #[allow(clippy::cast_precision_loss, clippy::cast_lossless)] // rounding is intended
    pub fn to_f64(self) -> f64 {
        with_value!(self, value => value as f64)
    }
}

macro_rules! from_values {
    ($($type:ty: $variant:ident;)*) => {$(
        impl From<$type> for Scalar {
            fn from(value: $type) -> Self {
                Self::$variant(value)
            }
        }
    )*};
}

from_values! {
    i8: I8;
    u8: U8;
    i16: I16;
    u16: U16;
    i32: I32;
    u32: U32;
    i64: I64;
    u64: U64;
    f32: F32;
    f64: F64;
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_value!(self, value => value.fmt(f))
    }
}

/// Returns `true` if a float is spelled as a word, such as `inf`. Digits that overflow to infinity
/// are rejected.
fn is_word(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_digit())
}
