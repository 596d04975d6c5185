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
    /// Extends the value to 64 bits, with the sign for signed types.
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
pub(crate) struct Integer {
    /// The size of a value, in bytes.
    pub(crate) size: usize,
    pub(crate) is_signed: bool,
}

impl Integer {
    fn of_physical(physical: PhysicalType) -> Option<Self> {
        (!physical.is_float()).then(|| Self { size: physical.size(), is_signed: physical.is_signed_integer() })
    }

    /// Returns the integer type used by the delta filters. Strings are treated as bytes, even with
    /// wide characters. Returns `None` for floats.
    pub(crate) fn for_delta(datatype: Datatype) -> Option<Self> {
        if datatype.is_string() { Self::of_physical(PhysicalType::U8) } else { Self::of_physical(datatype.physical()) }
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
        Self::for_positive_delta(datatype, version).filter(|integer| integer.size > 1)
    }
}

/// Evaluates `$body` with `$T` as the Rust type of an [`Integer`].
macro_rules! with_integer {
    ($integer:expr, $T:ident => $body:expr) => {
        if $integer.is_signed {
            $crate::word::with_size!($integer.size, $T => $body, i8 i16 i32 i64)
        } else {
            $crate::word::with_unsigned!($integer.size, $T => $body)
        }
    };
}

/// Evaluates `$body` with `$T` as the unsigned type of `$size` bytes: 1, 2, 4 or 8. Wrapping
/// arithmetic is independent of the sign.
macro_rules! with_unsigned {
    ($size:expr, $T:ident => $body:expr) => {
        $crate::word::with_size!($size, $T => $body, u8 u16 u32 u64)
    };
}

macro_rules! with_size {
    ($size:expr, $T:ident => $body:expr, $one:ident $two:ident $four:ident $eight:ident) => {
        match $size {
            1 => {
                type $T = $one;
                $body
            }
            2 => {
                type $T = $two;
                $body
            }
            4 => {
                type $T = $four;
                $body
            }
            _ => {
                type $T = $eight;
                $body
            }
        }
    };
}

pub(crate) use {with_integer, with_size, with_unsigned};
