//! Minimums, maximums and saturating sums of numbers.

mod blocks;
mod sums;

use std::ops::Range;

use tdb_types::{Cells, PhysicalType, Validity, with_physical};

use blocks::InBlocks;
use sums::Sum;

/// A number, with the semantics of the reference library's statistics.
trait Number: InBlocks {
    /// The initial minimum: the maximum finite number.
    const GREATEST: Self;
    /// The initial maximum: the minimum finite number.
    const LEAST: Self;
    fn read(bytes: &[u8]) -> Self;
    fn write(self) -> [u8; 8];
}

macro_rules! number {
    ($($type:ident)*) => {$(
        impl Number for $type {
            const GREATEST: Self = $type::MAX;
            const LEAST: Self = $type::MIN;

            fn read(bytes: &[u8]) -> Self {
                bytes.try_into().map_or(Self::default(), Self::from_le_bytes)
            }
            fn write(self) -> [u8; 8] {
                let mut bytes = [0; 8];
                bytes[..size_of::<Self>()].copy_from_slice(&self.to_le_bytes());
                bytes
            }
        }
    )*};
}

number!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64);

/// The behavior of a sum after an overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    /// The sum stays at the end of the range.
    Stops,
    /// The sum continues from the end of the range.
    GoesOn,
}

/// Returns the initial minimum and maximum: the maximum and the minimum finite number.
pub(super) fn no_bounds(physical: PhysicalType) -> ([u8; 8], [u8; 8]) {
    fn of<T: Number>() -> ([u8; 8], [u8; 8]) {
        (T::GREATEST.write(), T::LEAST.write())
    }
    with_physical!(physical, T => of::<T>())
}

/// The statistics of the numbers so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    /// The bytes of the minimum and of the maximum.
    pub(super) min: [u8; 8],
    pub(super) max: [u8; 8],
    /// The bits of the sum.
    pub(super) sum: u64,
}

/// Adds the valid cells of a run.
pub(super) fn add(physical: PhysicalType, cells: &Cells<'_>, run: Range<usize>, to: &mut Numbers, overflow: Overflow) {
    with_physical!(physical, T => add_of::<T>(cells, run, to, overflow));
}

/// Returns the bits of the sum of two sums. On overflow, the error is the end of the range.
pub(super) fn plus(physical: PhysicalType, a: u64, b: u64) -> Result<u64, u64> {
    fn of<T: Number>(a: u64, b: u64) -> Result<u64, u64> {
        T::Sum::from_bits(a).plus(T::Sum::from_bits(b)).map(Sum::bits).map_err(Sum::bits)
    }
    with_physical!(physical, T => of::<T>(a, b))
}

/// Merges the minimum and maximum of a later tile into `min` and `max`.
pub(super) fn join(physical: PhysicalType, min: &mut [u8], max: &mut [u8], later_min: &[u8], later_max: &[u8]) {
    fn of<T: Number>(min: &mut [u8], max: &mut [u8], later_min: &[u8], later_max: &[u8]) {
        let least = less(T::read(min), T::read(later_min));
        let greatest = greater(T::read(max), T::read(later_max));
        let size = size_of::<T>();
        min.copy_from_slice(&least.write()[..size]);
        max.copy_from_slice(&greatest.write()[..size]);
    }
    with_physical!(physical, T => of::<T>(min, max, later_min, later_max));
}

/// Returns the lesser value, or `b` if the values are equal or unordered.
fn less<T: PartialOrd>(a: T, b: T) -> T {
    if a < b { a } else { b }
}

fn greater<T: PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// Returns the numbers of a run, and their validity.
fn run_of<'a, T: Number>(
    cells: &Cells<'a>,
    run: Range<usize>,
) -> (impl Iterator<Item = T> + use<'a, T>, Option<Validity<'a>>) {
    let size = size_of::<T>();
    let bytes = run.start.saturating_mul(size)..run.end.saturating_mul(size);
    let values = cells.values().get(bytes).unwrap_or_default().chunks_exact(size);
    (values.map(T::read), cells.validity().map(|validity| validity.slice(run)))
}

/// Runs a loop over the valid values. The layout of the validity is matched outside of the loop.
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

fn add_of<T: Number>(cells: &Cells<'_>, run: Range<usize>, to: &mut Numbers, overflow: Overflow) {
    let size = size_of::<T>();
    let (values, validity) = run_of::<T>(cells, run.clone());
    let mut so_far = SoFar {
        min: T::read(&to.min[..size]),
        max: T::read(&to.max[..size]),
        sum: T::Sum::from_bits(to.sum),
        overflow,
        stopped: false,
    };
    match validity.filter(|validity| validity.null_count(run.len()) > 0) {
        None => {
            let bytes = cells.values().get(run.start.saturating_mul(size)..run.end.saturating_mul(size));
            bytes.unwrap_or_default().chunks(BLOCK * size).for_each(|block| so_far.add_block(block));
        }
        some => for_valid!(values, some, |valid| so_far.add_each(valid)),
    }
    *to = Numbers { min: so_far.min.write(), max: so_far.max.write(), sum: so_far.sum.bits() };
}

/// The number of values per block, small enough that a second pass hits the fastest cache.
const BLOCK: usize = 512;

/// The statistics of the numbers of a run and of the numbers before the run.
struct SoFar<T: Number> {
    min: T,
    max: T,
    sum: T::Sum,
    overflow: Overflow,
    /// `true` if the sum stays at the end of its range for the rest of the run.
    stopped: bool,
}

impl<T: Number> SoFar<T> {
    /// Adds the numbers of a block. Vectorizes if the result is the same as for a loop over single
    /// numbers.
    fn add_block(&mut self, block: &[u8]) {
        let values = block.chunks_exact(size_of::<T>()).map(T::read);
        let Some((min, max)) = T::bounds(block) else { return self.add_each(values) };
        self.min = less(self.min, min);
        self.max = greater(self.max, max);
        if self.stopped {
            return;
        }
        match T::sum(self.sum, block, (min, max)) {
            Some(sum) => self.sum = sum,
            None => values.for_each(|value| self.add_to_sum(value)),
        }
    }

    /// Adds numbers in order.
    fn add_each(&mut self, values: impl Iterator<Item = T>) {
        for value in values {
            self.min = less(self.min, value);
            self.max = greater(self.max, value);
            self.add_to_sum(value);
        }
    }

    fn add_to_sum(&mut self, value: T) {
        if self.stopped {
            return;
        }
        match self.sum.plus(value.widen()) {
            Ok(sum) => self.sum = sum,
            Err(end) => {
                self.sum = end;
                self.stopped = self.overflow == Overflow::Stops;
            }
        }
    }
}

#[cfg(test)]
mod tests;
