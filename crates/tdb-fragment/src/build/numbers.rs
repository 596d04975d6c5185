//! Least and greatest numbers, and sums that stop at the ends of their range.

use std::ops::Range;

use tdb_types::{Cells, PhysicalType, Validity};

/// A number as the reference library treats it in statistics.
trait Number: Copy + PartialOrd {
    /// Greater than, or as great as, every other.
    const GREATEST: Self;
    /// Less than, or as little as, every other.
    const LEAST: Self;
    /// The type of sums.
    type Sum: Sum;

    fn read(bytes: &[u8]) -> Self;
    fn write(self) -> [u8; 8];
    fn widen(self) -> Self::Sum;
}

/// A sum of numbers.
pub(super) trait Sum: Copy {
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
    /// The sum of both; an error is the end of the range, which lies before it.
    fn plus(self, other: Self) -> Result<Self, Self>;
}

impl Sum for i64 {
    fn from_bits(bits: u64) -> Self {
        bits.cast_signed()
    }
    fn bits(self) -> u64 {
        self.cast_unsigned()
    }
    fn plus(self, other: Self) -> Result<Self, Self> {
        self.checked_add(other).ok_or(if self < 0 { Self::MIN } else { Self::MAX })
    }
}

impl Sum for u64 {
    fn from_bits(bits: u64) -> Self {
        bits
    }
    fn bits(self) -> u64 {
        self
    }
    fn plus(self, other: Self) -> Result<Self, Self> {
        self.checked_add(other).ok_or(Self::MAX)
    }
}

impl Sum for f64 {
    fn from_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
    fn plus(self, other: Self) -> Result<Self, Self> {
        // A NaN compares as nothing, and so is added.
        if (self < 0.0) == (other < 0.0) && self.abs() > Self::MAX - other.abs() {
            return Err(if self < 0.0 { Self::MIN } else { Self::MAX });
        }
        let sum = self + other;
        Ok(if sum.is_nan() { nan_of(self, other, sum) } else { sum })
    }
}

/// Which of many NaNs a sum is: the first one met, as x86 processors have it; compilers may swap the operands.
#[cold]
fn nan_of(a: f64, b: f64, sum: f64) -> f64 {
    const QUIET: u64 = 1 << 51;
    match (a.is_nan(), b.is_nan()) {
        (true, _) => f64::from_bits(a.to_bits() | QUIET),
        (false, true) => f64::from_bits(b.to_bits() | QUIET),
        (false, false) => sum,
    }
}

macro_rules! number {
    ($($type:ident as $sum:ident;)*) => {$(
        impl Number for $type {
            const GREATEST: Self = $type::MAX;
            const LEAST: Self = $type::MIN;
            type Sum = $sum;

            fn read(bytes: &[u8]) -> Self {
                bytes.try_into().map_or(Self::default(), Self::from_le_bytes)
            }
            fn write(self) -> [u8; 8] {
                let mut bytes = [0; 8];
                bytes[..size_of::<Self>()].copy_from_slice(&self.to_le_bytes());
                bytes
            }
            fn widen(self) -> $sum {
                self.into()
            }
        }
    )*};
}

number! {
    i8 as i64;
    u8 as u64;
    i16 as i64;
    u16 as u64;
    i32 as i64;
    u32 as u64;
    i64 as i64;
    u64 as u64;
    f32 as f64;
    f64 as f64;
}

/// What becomes of a sum that has left its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    /// It stays at the end of the range.
    Stops,
    /// It goes on from there.
    GoesOn,
}

/// Runs a generic function for the type that values lie in memory as.
macro_rules! for_type {
    ($physical:expr, $function:ident($($argument:expr),*)) => {
        match $physical {
            PhysicalType::I8 => $function::<i8>($($argument),*),
            PhysicalType::U8 => $function::<u8>($($argument),*),
            PhysicalType::I16 => $function::<i16>($($argument),*),
            PhysicalType::U16 => $function::<u16>($($argument),*),
            PhysicalType::I32 => $function::<i32>($($argument),*),
            PhysicalType::U32 => $function::<u32>($($argument),*),
            PhysicalType::I64 => $function::<i64>($($argument),*),
            PhysicalType::U64 => $function::<u64>($($argument),*),
            PhysicalType::F32 => $function::<f32>($($argument),*),
            PhysicalType::F64 => $function::<f64>($($argument),*),
        }
    };
}

/// The least and the greatest of no numbers: the greatest and the least that there are.
pub(super) fn no_bounds(physical: PhysicalType) -> ([u8; 8], [u8; 8]) {
    fn of<T: Number>() -> ([u8; 8], [u8; 8]) {
        (T::GREATEST.write(), T::LEAST.write())
    }
    for_type!(physical, of())
}

/// The least and the greatest of these two and the valid cells of a run.
pub(super) fn bounds(
    physical: PhysicalType,
    cells: &Cells<'_>,
    run: Range<usize>,
    min: [u8; 8],
    max: [u8; 8],
) -> ([u8; 8], [u8; 8]) {
    for_type!(physical, bounds_of(cells, run, min, max))
}

/// The sum of the valid cells of a run, added to the bits of another.
pub(super) fn sum(
    physical: PhysicalType,
    cells: &Cells<'_>,
    run: Range<usize>,
    before: u64,
    overflow: Overflow,
) -> u64 {
    for_type!(physical, sum_of(cells, run, before, overflow))
}

/// The sum of two sums' bits; an error is the end of the range.
pub(super) fn plus(physical: PhysicalType, a: u64, b: u64) -> Result<u64, u64> {
    fn of<T: Number>(a: u64, b: u64) -> Result<u64, u64> {
        T::Sum::from_bits(a).plus(T::Sum::from_bits(b)).map(Sum::bits).map_err(Sum::bits)
    }
    for_type!(physical, of(a, b))
}

/// The lesser of the least and the greater of the greatest values, the latter two being of a later tile.
pub(super) fn join(physical: PhysicalType, min: &mut [u8], max: &mut [u8], later_min: &[u8], later_max: &[u8]) {
    fn of<T: Number>(min: &mut [u8], max: &mut [u8], later_min: &[u8], later_max: &[u8]) {
        let least = less(T::read(min), T::read(later_min));
        let greatest = greater(T::read(max), T::read(later_max));
        let size = size_of::<T>();
        min.copy_from_slice(&least.write()[..size]);
        max.copy_from_slice(&greatest.write()[..size]);
    }
    for_type!(physical, of(min, max, later_min, later_max));
}

/// Of equal ones, and where there is no order, the later one.
fn less<T: PartialOrd>(a: T, b: T) -> T {
    if a < b { a } else { b }
}

fn greater<T: PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// The numbers of a run, and its validity.
fn run_of<'a, T: Number>(
    cells: &Cells<'a>,
    run: Range<usize>,
) -> (impl Iterator<Item = T> + use<'a, T>, Option<Validity<'a>>) {
    let size = size_of::<T>();
    let bytes = run.start.saturating_mul(size)..run.end.saturating_mul(size);
    let values = cells.values().get(bytes).unwrap_or_default().chunks_exact(size);
    (values.map(T::read), cells.validity().map(|validity| validity.slice(run)))
}

/// Runs a loop over the values that are valid. Which layout says so is decided once, outside of it.
macro_rules! for_valid {
    ($values:expr, $validity:expr, |$valid:ident| $loop:expr) => {
        match $validity {
            None => {
                let $valid = $values;
                $loop
            }
            Some(Validity::Bytes(bytes)) => {
                let $valid = $values.zip(bytes).filter(|(_, byte)| **byte != 0).map(|(value, _)| value);
                $loop
            }
            Some(bits @ Validity::Bits { .. }) => {
                let $valid = $values.zip(0..).filter(|(_, cell)| bits.is_valid(*cell)).map(|(value, _)| value);
                $loop
            }
        }
    };
}
pub(super) use for_valid;

fn bounds_of<T: Number>(cells: &Cells<'_>, run: Range<usize>, min: [u8; 8], max: [u8; 8]) -> ([u8; 8], [u8; 8]) {
    let size = size_of::<T>();
    let (mut min, mut max) = (T::read(&min[..size]), T::read(&max[..size]));
    let (values, validity) = run_of::<T>(cells, run);
    for_valid!(values, validity, |valid| for value in valid {
        min = less(min, value);
        max = greater(max, value);
    });
    (min.write(), max.write())
}

fn sum_of<T: Number>(cells: &Cells<'_>, run: Range<usize>, before: u64, overflow: Overflow) -> u64 {
    let (values, validity) = run_of::<T>(cells, run);
    let start = T::Sum::from_bits(before);
    let sum = for_valid!(values, validity, |valid| add_all(start, valid.map(T::widen), overflow));
    sum.bits()
}

fn add_all<S: Sum>(start: S, values: impl Iterator<Item = S>, overflow: Overflow) -> S {
    let mut sum = start;
    for value in values {
        match sum.plus(value) {
            Ok(more) => sum = more,
            Err(end) if overflow == Overflow::Stops => return end,
            Err(end) => sum = end,
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(values: &[u8]) -> Cells<'_> {
        Cells::fixed(values, 8)
    }

    fn f64s(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn sums_stop_at_the_end() {
        let values: Vec<u8> = [i64::MAX - 1, 5, -10].iter().flat_map(|value: &i64| value.to_le_bytes()).collect();
        assert_eq!(sum(PhysicalType::I64, &cells(&values), 0..3, 0, Overflow::Stops).cast_signed(), i64::MAX);
        assert_eq!(sum(PhysicalType::I64, &cells(&values), 1..3, 0, Overflow::Stops).cast_signed(), -5);
        let each = sum(PhysicalType::I64, &cells(&values), 0..3, 0, Overflow::GoesOn);
        assert_eq!(each.cast_signed(), i64::MAX - 10);
        assert_eq!(sum(PhysicalType::U64, &cells(&[0xff; 16]), 0..2, 0, Overflow::Stops), u64::MAX);
        let values = f64s(&[f64::MAX, f64::MAX, f64::MIN]);
        assert_eq!(f64::from_bits(sum(PhysicalType::F64, &cells(&values), 0..3, 0, Overflow::Stops)), f64::MAX);
        assert_eq!(sum(PhysicalType::I8, &Cells::fixed(&[0xff, 0xfe], 1), 0..2, 0, Overflow::Stops).cast_signed(), -3);
    }

    #[test]
    fn a_nan_takes_the_place_of_what_was_before_and_the_next_number_takes_its() {
        let values = f64s(&[1.0, 9.0, f64::NAN, 4.0, 5.0]);
        let (min, max) = no_bounds(PhysicalType::F64);
        let (min, max) = bounds(PhysicalType::F64, &cells(&values), 0..5, min, max);
        assert_eq!((f64::from_le_bytes(min), f64::from_le_bytes(max)), (4.0, 5.0));
    }
}
