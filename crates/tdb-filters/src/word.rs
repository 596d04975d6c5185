//! Integers stored as little-endian bytes in slices.

use tdb_types::{Datatype, Feature, FormatVersion, PhysicalType};

/// An integer of `N` bytes. Loading and storing compile to plain moves on little-endian machines.
pub(crate) trait Word<const N: usize>: Copy + Default + Ord {
    /// `true` for signed types.
    const SIGNED: bool;

    fn load(bytes: [u8; N]) -> Self;
    fn store(self) -> [u8; N];
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn checked_minus(self, other: Self) -> Option<Self>;
    /// Returns the low bytes of `value`.
    fn truncate(value: u64) -> Self;
    /// Sign-extends the value.
    fn widen(self) -> u64;
}

macro_rules! words {
    ($($type:ty, $signed:literal;)*) => {$(
        impl Word<{ size_of::<$type>() }> for $type {
            const SIGNED: bool = $signed;

            #[inline(always)]
            fn load(bytes: [u8; size_of::<$type>()]) -> Self {
                <$type>::from_le_bytes(bytes)
            }

            #[inline(always)]
            fn store(self) -> [u8; size_of::<$type>()] {
                self.to_le_bytes()
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn checked_minus(self, other: Self) -> Option<Self> {
                self.checked_sub(other)
            }

            #[inline(always)]
            fn truncate(value: u64) -> Self {
                value as $type
            }

            #[inline(always)]
            #[allow(clippy::cast_lossless)] // the sign extension is intended
            fn widen(self) -> u64 {
                self as i128 as u64
            }
        }
    )*};
}

words! {
    u8, false; i8, true; u16, false; i16, true; u32, false; i32, true; u64, false; i64, true;
}

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integer {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl Integer {
    pub(crate) const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 => 4,
            Self::I64 | Self::U64 => 8,
        }
    }

    fn of_physical(physical: PhysicalType) -> Option<Self> {
        Some(match physical {
            PhysicalType::I8 => Self::I8,
            PhysicalType::U8 => Self::U8,
            PhysicalType::I16 => Self::I16,
            PhysicalType::U16 => Self::U16,
            PhysicalType::I32 => Self::I32,
            PhysicalType::U32 => Self::U32,
            PhysicalType::I64 => Self::I64,
            PhysicalType::U64 => Self::U64,
            PhysicalType::F32 | PhysicalType::F64 => return None,
        })
    }

    /// Returns the integer type used by the delta filters. Strings are treated as bytes, even with
    /// wide characters. Returns `None` for floats.
    pub(crate) fn for_delta(datatype: Datatype) -> Option<Self> {
        if datatype.is_string() { Some(Self::U8) } else { Self::of_physical(datatype.physical()) }
    }

    /// Returns the integer type used by positive delta, or `None` if the filter skips the datatype.
    pub(crate) fn for_positive_delta(datatype: Datatype, version: FormatVersion) -> Option<Self> {
        let temporal = datatype.is_datetime() || datatype.is_time();
        let applies =
            datatype.is_integer() || datatype.is_bytes() || (temporal && version.has(Feature::TemporalIntegerFilters));
        applies.then(|| Self::of_physical(datatype.physical())).flatten()
    }

    /// Returns the integer type used by bit-width reduction, or `None` if the filter skips the
    /// datatype, for example single bytes.
    pub(crate) fn for_bit_width_reduction(datatype: Datatype, version: FormatVersion) -> Option<Self> {
        Self::for_positive_delta(datatype, version).filter(|integer| integer.size() > 1)
    }
}

/// Evaluates `$body` with `$T` as the Rust type of an [`Integer`].
macro_rules! with_integer {
    ($integer:expr, $T:ident => $body:expr) => {
        with_integer!(@ $integer, $T, $body, I8 = i8, U8 = u8, I16 = i16, U16 = u16, I32 = i32, U32 = u32, I64 = i64, U64 = u64)
    };
    (@ $integer:expr, $T:ident, $body:expr, $($variant:ident = $type:ty),*) => {
        match $integer { $($crate::word::Integer::$variant => { type $T = $type; $body })* }
    };
}

/// Evaluates `$body` with `$T` as the unsigned type of `$size` bytes: 1, 2, 4 or 8. Wrapping
/// arithmetic is independent of the sign.
macro_rules! with_unsigned {
    ($size:expr, $T:ident => $body:expr) => {
        match $size {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            _ => {
                type $T = u64;
                $body
            }
        }
    };
}

pub(crate) use {with_integer, with_unsigned};
