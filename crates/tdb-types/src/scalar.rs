//! A single value of a fixed-size datatype.

use std::fmt;

use crate::{PhysicalType, ScalarBytes, with_physical};

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
        with_value!(@ $scalar, $value, $body, I8 U8 I16 U16 I32 U32 I64 U64 F32 F64)
    };
    (@ $scalar:expr, $value:ident, $body:expr, $($variant:ident)*) => {
        match $scalar { $(Scalar::$variant($value) => $body),* }
    };
}

macro_rules! from_values {
    ($($variant:ident: $type:ty;)*) => {
        $(impl From<$type> for Scalar {
            fn from(value: $type) -> Self {
                Self::$variant(value)
            }
        })*

        impl Scalar {
            /// Returns the type of the value.
            #[must_use]
            pub fn physical(self) -> PhysicalType {
                match self { $(Self::$variant(_) => PhysicalType::$variant),* }
            }
        }
    };
}

from_values! { I8: i8; U8: u8; I16: i16; U16: u16; I32: i32; U32: u32; I64: i64; U64: u64; F32: f32; F64: f64; }

impl Scalar {
    /// Decodes a value from little-endian bytes. Returns `None` unless the length is the size of
    /// the type.
    #[must_use]
    pub fn from_le_bytes(physical: PhysicalType, bytes: &[u8]) -> Option<Self> {
        Some(with_physical!(physical, T => T::from_le_bytes(bytes.try_into().ok()?).into()))
    }

    /// Encodes the value in little-endian order, in the size of its type.
    #[must_use]
    pub fn to_le_bytes(self) -> ScalarBytes {
        with_value!(self, value => ScalarBytes::new(&value.to_le_bytes()))
    }

    /// Parses decimal text, or a word such as `inf` or `NaN` for floats. Returns `None` if the text
    /// is not a value of the type. Floats reject digits that overflow to infinity.
    #[must_use]
    pub fn parse(physical: PhysicalType, text: &str) -> Option<Self> {
        let value: Self = with_physical!(physical, T => text.parse::<T>().ok()?.into());
        (!value.to_f64().is_infinite() || is_word(text)).then_some(value)
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
        let is_float = self.physical().is_float();
        #[allow(clippy::cast_possible_truncation, clippy::cast_lossless)] // an integer
        (!is_float).then_some(with_value!(self, value => value as i128))
    }

    /// Converts the value to a double, rounding if necessary.
    #[must_use]
    #[allow(clippy::cast_precision_loss, clippy::cast_lossless)] // rounding is intended
    pub fn to_f64(self) -> f64 {
        with_value!(self, value => value as f64)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_value!(self, value => value.fmt(f))
    }
}

/// Returns `true` if a float is spelled as a word, such as `inf`, and not in digits.
fn is_word(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_digit())
}
