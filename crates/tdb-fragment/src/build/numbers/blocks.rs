//! Vectorizable loops over blocks of numbers, for cases where the order of additions does not
//! affect the result.

use super::sums::Sum;

/// A number type with operations on blocks. Blocks are little-endian bytes.
pub(super) trait InBlocks: Copy + PartialOrd {
    /// The type of sums.
    type Sum: Sum;

    fn widen(self) -> Self::Sum;

    /// Returns the minimum and maximum of a block, as found in order by [`less`](super::less) and
    /// [`greater`](super::greater).
    ///
    /// Returns `None` if the block is empty, or if the result depends on previous numbers.
    fn bounds(block: &[u8]) -> Option<(Self, Self)>;

    /// Returns the sum of `before` and of a block of numbers within `bounds`, added in order.
    ///
    /// Returns `None` if the sum might overflow.
    fn sum(before: Self::Sum, block: &[u8], bounds: (Self, Self)) -> Option<Self::Sum>;
}

/// Iterates over the numbers of a block.
macro_rules! values {
    ($type:ident, $block:expr) => {
        $block.as_chunks::<{ size_of::<$type>() }>().0.iter().map(|bytes| $type::from_le_bytes(*bytes))
    };
}

macro_rules! integers {
    ($($type:ident as $sum:ident;)*) => {$(
        impl InBlocks for $type {
            type Sum = $sum;

            fn widen(self) -> $sum {
                self.into()
            }

            fn bounds(block: &[u8]) -> Option<(Self, Self)> {
                let widest = ($type::MAX, $type::MIN);
                let (min, max) = values!($type, block).fold(widest, |(min, max), value| (min.min(value), max.max(value)));
                (min <= max).then_some((min, max))
            }

            fn sum(before: $sum, block: &[u8], (min, max): (Self, Self)) -> Option<$sum> {
                // All intermediate sums are between the smallest and the largest of `before`,
                // `before + count * min` and `before + count * max`.
                let count = (block.len() / size_of::<$type>()) as i128;
                let ends = [min, max].map(|end| i128::from(before) + i128::from(end) * count);
                let is_within = ends.iter().all(|end| $sum::try_from(*end).is_ok());
                let sum = || values!($type, block).fold(before, |sum, value| sum.wrapping_add(value.into()));
                is_within.then(sum)
            }
        }
    )*};
}

integers! {
    i8 as i64;
    u8 as u64;
    i16 as i64;
    u16 as u64;
    i32 as i64;
    u32 as u64;
    i64 as i64;
    u64 as u64;
}

/// The number of floats compared in parallel.
const LANES: usize = 8;

macro_rules! floats {
    ($($type:ident)*) => {$(
        impl InBlocks for $type {
            type Sum = f64;

            fn widen(self) -> f64 {
                self.into()
            }

            fn bounds(block: &[u8]) -> Option<(Self, Self)> {
                let (rows, rest) = block.as_chunks::<{ size_of::<$type>() }>().0.as_chunks::<LANES>();
                let (mut min, mut max) = ([$type::INFINITY; LANES], [$type::NEG_INFINITY; LANES]);
                let mut has_nan = [false; LANES];
                for row in rows {
                    for lane in 0..LANES {
                        let value = $type::from_le_bytes(row[lane]);
                        min[lane] = if value < min[lane] { value } else { min[lane] };
                        max[lane] = if value > max[lane] { value } else { max[lane] };
                        has_nan[lane] |= value.is_nan();
                    }
                }
                let mut ends = ($type::INFINITY, $type::NEG_INFINITY);
                let rest = rest.iter().map(|bytes| $type::from_le_bytes(*bytes));
                for value in min.into_iter().chain(max).filter(|_| !rows.is_empty()).chain(rest.clone()) {
                    ends = (if value < ends.0 { value } else { ends.0 }, if value > ends.1 { value } else { ends.1 });
                }
                let has_nan = has_nan.contains(&true) || rest.clone().any(|value| value.is_nan());
                // Zeros of either sign are equal, and the last of several equal numbers counts.
                let last_zero = || values!($type, block).rfind(|value| *value == 0.0);
                let of_zeros = |end: $type| if end == 0.0 { last_zero().unwrap_or(end) } else { end };
                (!has_nan && ends.0 <= ends.1).then(|| (of_zeros(ends.0), of_zeros(ends.1)))
            }

            fn sum(before: f64, block: &[u8], (min, max): (Self, Self)) -> Option<f64> {
                let count = (block.len() / size_of::<$type>()) as f64;
                let furthest = before.abs() + f64::from(min.abs().max(max.abs())) * count;
                // Half of the range leaves enough room for all rounding.
                let is_within = furthest < f64::MAX / 2.0;
                is_within.then(|| values!($type, block).fold(before, |sum, value| sum + f64::from(value)))
            }
        }
    )*};
}

floats!(f32 f64);
