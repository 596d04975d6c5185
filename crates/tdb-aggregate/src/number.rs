//! Numeric types, with operations on slices.

use tdb_types::{PhysicalType, with_physical};

/// A number type of cells.
pub(crate) trait Number: Copy + PartialOrd + Default {
    /// The bytes of a number.
    type Bytes: AsRef<[u8]>;

    /// Iterates over the numbers in little-endian bytes. Ignores an incomplete number at the end.
    fn numbers(bytes: &[u8]) -> impl Iterator<Item = Self> + Clone;

    /// Returns the number at `index`, or 0 if out of bounds.
    fn at(bytes: &[u8], index: usize) -> Self;

    fn to_bytes(self) -> Self::Bytes;

    /// Returns the sum of `numbers`, and whether finite values overflowed a double.
    fn sum(numbers: &[Self]) -> Partial;

    /// Returns the minimum and maximum, ignoring NaNs. Returns `None` if there are no other
    /// numbers.
    fn bounds(numbers: &[Self]) -> Option<(Self, Self)>;

    /// Returns the number as a partial sum.
    fn widen(self) -> Partial;

    /// Converts to a double, rounded if needed.
    fn to_f64(self) -> f64;

    /// Returns `true` for NaN.
    fn is_nan(self) -> bool;
}

/// A sum of numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Partial {
    Integer(i128),
    Float { sum: f64, overflowed: bool },
}

/// The number of cells per partial sum. The 64-bit sum of this many 32-bit numbers cannot overflow.
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
            #[allow(clippy::cast_precision_loss, clippy::cast_lossless)] // rounding is intended
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
                // Sums the 32-bit halves separately, because the sum of each half fits 64 bits.
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
                // Comparisons with NaN are false.
                let (min, max) = numbers.iter().fold(start, |(min, max), value| {
                    (if *value < min { *value } else { min }, if *value > max { *value } else { max })
                });
                if min <= max {
                    return Some((min, max));
                }
                // Without numbers, or with only NaNs, the result is `None`.
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

/// Sums in eight lanes, so that additions do not wait for each other. The order of additions is
/// fixed.
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

/// Returns the number in `bytes` as a partial sum.
pub(crate) fn widen(physical: PhysicalType, bytes: &[u8]) -> Partial {
    with_physical!(physical, N => N::at(bytes, 0).widen())
}

/// Returns `true` if the number in `bytes` is NaN.
pub(crate) fn is_nan(physical: PhysicalType, bytes: &[u8]) -> bool {
    with_physical!(physical, N => N::at(bytes, 0).is_nan())
}

/// Returns `true` if the number in `a` is less than the number in `b`.
pub(crate) fn is_less(physical: PhysicalType, a: &[u8], b: &[u8]) -> bool {
    with_physical!(physical, N => N::at(a, 0) < N::at(b, 0))
}
