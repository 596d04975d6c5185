//! In-memory types of values.

/// The in-memory type of the values of a [`Datatype`](crate::Datatype). Generic code is
/// monomorphized over these types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // variants are named after Rust types
pub enum PhysicalType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

/// Evaluates an expression with `T` as the Rust type of a [`PhysicalType`]. An optional arm `_`
/// handles floating-point types. `T` is then always an integer.
///
/// ```
/// use tdb_types::{PhysicalType, with_physical};
///
/// assert_eq!(with_physical!(PhysicalType::U16, T => T::MAX as f64), 65535.0);
/// assert_eq!(with_physical!(PhysicalType::F32, T => T::BITS, _ => 0), 0);
/// ```
#[macro_export]
macro_rules! with_physical {
    ($physical:expr, $T:ident => $body:expr $(, _ => $float:expr)?) => {
        $crate::with_physical!(
            @ $physical, $T, $body, I8 i8 U8 u8 I16 i16 U16 u16 I32 i32 U32 u32 I64 i64 U64 u64, $($float)?
        )
    };
    (@ $physical:expr, $T:ident, $body:expr, $($integer:ident $type:ident)*, $float:expr) => {
        match $physical {
            $(#[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // for some of the types
            $crate::PhysicalType::$integer => { type $T = $type; $body })*
            $crate::PhysicalType::F32 | $crate::PhysicalType::F64 => $float,
        }
    };
    (@ $physical:expr, $T:ident, $body:expr, $($integer:ident $type:ident)*,) => {
        match $physical {
            $(#[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // for some of the types
            $crate::PhysicalType::$integer => { type $T = $type; $body })*
            $crate::PhysicalType::F32 => { type $T = f32; $body }
            #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
            $crate::PhysicalType::F64 => { type $T = f64; $body }
        }
    };
}

impl PhysicalType {
    /// All physical types.
    pub const ALL: [Self; 10] =
        [Self::I8, Self::U8, Self::I16, Self::U16, Self::I32, Self::U32, Self::I64, Self::U64, Self::F32, Self::F64];

    /// Returns the size of one value, in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Returns `true` for floating-point types.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Returns `true` for signed integer types.
    #[must_use]
    pub const fn is_signed_integer(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// Returns the maximum value of an integer type, or `None` for floating-point types.
    #[must_use]
    pub const fn max_integer(self) -> Option<u64> {
        with_physical!(self, T => Some(T::MAX as u64), _ => None)
    }
}
