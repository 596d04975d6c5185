//! The types of numbers, and what is computed of slices of them without a look at each one's type.

use tdb_types::PhysicalType;

/// A number that cells hold.
pub(crate) trait Number: Copy + PartialOrd + Default {
    /// Bytes of a number.
    type Bytes: AsRef<[u8]>;

    /// The numbers in little-endian bytes; what is left at the end is none.
    fn numbers(bytes: &[u8]) -> impl Iterator<Item = Self> + Clone;

    /// The number that `bytes` begin with at `index` numbers from the start; 0 beyond the end.
    fn at(bytes: &[u8], index: usize) -> Self;

    fn to_bytes(self) -> Self::Bytes;

    /// Their sum; whether it left the range of doubles, although none of the values lies outside.
    fn sum(numbers: &[Self]) -> Partial;

    /// The least and the greatest, NaNs left out; `None` if there are none.
    fn bounds(numbers: &[Self]) -> Option<(Self, Self)>;

    /// The number as a part of a sum.
    fn widen(self) -> Partial;

    /// As a double, rounded where that doesn't hold it.
    fn to_f64(self) -> f64;

    /// Whether it compares with nothing.
    fn is_nan(self) -> bool;
}

/// The sum of some numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Partial {
    Integer(i128),
    Float { sum: f64, overflowed: bool },
}

/// Cells whose sum is taken at once: so few that no sum of 32 bits each leaves 64 bits.
pub(crate) const BLOCK: usize = 1024;

macro_rules! number {
    ($type:ty, $sum:expr, $bounds:expr, $widen:expr, $is_nan:expr) => {
        impl Number for $type {
            type Bytes = [u8; size_of::<$type>()];

            #[inline]
            fn numbers(bytes: &[u8]) -> impl Iterator<Item = Self> + Clone {
                let (values, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
                values.iter().map(|value| <$type>::from_le_bytes(*value))
            }

            #[inline]
            fn at(bytes: &[u8], index: usize) -> Self {
                let (values, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
                values.get(index).map_or(<$type>::default(), |value| <$type>::from_le_bytes(*value))
            }

            fn to_bytes(self) -> Self::Bytes {
                self.to_le_bytes()
            }

            #[inline]
            fn sum(numbers: &[Self]) -> Partial {
                $sum(numbers)
            }

            #[inline]
            fn bounds(numbers: &[Self]) -> Option<(Self, Self)> {
                $bounds(numbers)
            }

            #[inline]
            fn widen(self) -> Partial {
                $widen(self)
            }

            #[inline]
            #[allow(clippy::cast_precision_loss, clippy::cast_lossless)] // rounding is meant
            fn to_f64(self) -> f64 {
                self as f64
            }

            #[inline]
            fn is_nan(self) -> bool {
                $is_nan(self)
            }
        }
    };
}

macro_rules! narrow {
    ($($type:ty)*) => {$(
        number!(
            $type,
            |numbers: &[$type]| {
                let blocks = numbers.chunks(BLOCK).map(|block| block.iter().map(|value| i64::from(*value)).sum::<i64>());
                Partial::Integer(blocks.map(i128::from).sum())
            },
            integer_bounds,
            |value: $type| Partial::Integer(value.into()),
            |_| false
        );
    )*};
}

macro_rules! wide {
    ($($type:ty)*) => {$(
        number!(
            $type,
            |numbers: &[$type]| {
                // The halves apart, so that neither leaves 64 bits.
                let halves = |block: &[$type]| {
                    let low: u64 = block.iter().map(|value| *value as u64 & 0xffff_ffff).sum();
                    let high: i64 = block.iter().map(|value| (*value >> 32) as i64).sum();
                    (i128::from(high) << 32) + i128::from(low)
                };
                Partial::Integer(numbers.chunks(BLOCK).map(halves).sum())
            },
            integer_bounds,
            |value: $type| Partial::Integer(value.into()),
            |_| false
        );
    )*};
}

macro_rules! float {
    ($($type:ty)*) => {$(
        number!(
            $type,
            |numbers: &[$type]| float_sum(numbers, |value| f64::from(*value)),
            |numbers: &[$type]| {
                let start = (<$type>::INFINITY, <$type>::NEG_INFINITY);
                // A comparison with NaN is never true.
                let (min, max) = numbers.iter().fold(start, |(min, max), value| {
                    (if *value < min { *value } else { min }, if *value > max { *value } else { max })
                });
                if min <= max {
                    return Some((min, max));
                }
                // All the same infinity, or nothing that compares.
                let first = numbers.iter().find(|value| !value.is_nan())?;
                Some((*first, *first))
            },
            |value: $type| Partial::Float { sum: value.into(), overflowed: false },
            |value: $type| value.is_nan()
        );
    )*};
}

narrow!(i8 u8 i16 u16 i32 u32);
wide!(i64 u64);
float!(f32 f64);

fn integer_bounds<T: Copy + Ord>(numbers: &[T]) -> Option<(T, T)> {
    let first = *numbers.first()?;
    Some(numbers.iter().fold((first, first), |(min, max), value| (min.min(*value), max.max(*value))))
}

/// Adds up in eight lanes, so that one addition needn't wait for the other; always in the same order.
#[inline]
fn float_sum<T>(numbers: &[T], widen: impl Fn(&T) -> f64) -> Partial {
    let (chunks, rest) = numbers.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, value)| *lane += widen(value));
    }
    let sum = lanes.iter().sum::<f64>() + rest.iter().map(&widen).sum::<f64>();
    if sum.is_finite() {
        return Partial::Float { sum, overflowed: false };
    }
    let special = numbers.iter().map(widen).filter(|value| !value.is_finite()).reduce(|sum, value| sum + value);
    special.map_or(Partial::Float { sum, overflowed: true }, |sum| Partial::Float { sum, overflowed: false })
}

/// Runs an expression with a physical type's Rust type as `$number`.
macro_rules! with_number {
    ($physical:expr, $number:ident => $body:expr) => {
        match $physical {
            PhysicalType::I8 => {
                type $number = i8;
                $body
            }
            PhysicalType::U8 => {
                type $number = u8;
                $body
            }
            PhysicalType::I16 => {
                type $number = i16;
                $body
            }
            PhysicalType::U16 => {
                type $number = u16;
                $body
            }
            PhysicalType::I32 => {
                type $number = i32;
                $body
            }
            PhysicalType::U32 => {
                type $number = u32;
                $body
            }
            PhysicalType::I64 => {
                type $number = i64;
                $body
            }
            PhysicalType::U64 => {
                type $number = u64;
                $body
            }
            PhysicalType::F32 => {
                type $number = f32;
                $body
            }
            PhysicalType::F64 => {
                type $number = f64;
                $body
            }
        }
    };
}

pub(crate) use with_number;

/// The sum of the number in `bytes`.
pub(crate) fn widen(physical: PhysicalType, bytes: &[u8]) -> Partial {
    with_number!(physical, N => N::at(bytes, 0).widen())
}

/// Whether the number in `bytes` compares with nothing.
pub(crate) fn is_nan(physical: PhysicalType, bytes: &[u8]) -> bool {
    with_number!(physical, N => N::at(bytes, 0).is_nan())
}

/// Whether the number in `a` is less than that in `b`.
pub(crate) fn is_less(physical: PhysicalType, a: &[u8], b: &[u8]) -> bool {
    with_number!(physical, N => N::at(a, 0) < N::at(b, 0))
}
