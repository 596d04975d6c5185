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

impl PhysicalType {
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
        match self {
            Self::I8 => Some(i8::MAX as u64),
            Self::U8 => Some(u8::MAX as u64),
            Self::I16 => Some(i16::MAX as u64),
            Self::U16 => Some(u16::MAX as u64),
            Self::I32 => Some(i32::MAX as u64),
            Self::U32 => Some(u32::MAX as u64),
            Self::I64 => Some(i64::MAX as u64),
            Self::U64 => Some(u64::MAX),
            Self::F32 | Self::F64 => None,
        }
    }
}
