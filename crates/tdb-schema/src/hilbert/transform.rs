//! Skilling's transform: from the buckets of a cell to its Hilbert value.

use super::block::{BLOCK, Buckets, MOST_DIMENSIONS};
use super::lanes::{self, Lane};

/// The maximum number of bits per bucket for `u16` lanes.
const SHORT_BITS: u32 = 16;

/// The transform for a given number of dimensions and of bits, with a precomputed table.
#[derive(Clone, Debug)]
pub(super) struct Transform {
    dimensions: usize,
    bits: u32,
    /// The number of low bits of each bucket to ignore.
    dropped: u32,
    /// The bits of each byte value, spread `dimensions` places apart.
    spread: Box<[u64; 256]>,
}

impl Transform {
    pub(super) fn new(dimensions: usize, bits: u32) -> Self {
        let mut spread = Box::new([0_u64; 256]);
        for (byte, spread) in (0_u64..).zip(spread.iter_mut()) {
            // The shift cannot overflow, because buckets of eight or more bits occur only with up
            // to seven dimensions. In buckets of fewer bits, the upper bits are zero.
            for bit in 0..bits.min(8) {
                *spread |= ((byte >> bit) & 1) << (u64::from(bit) * dimensions as u64);
            }
        }
        Self { dimensions, bits, dropped: 0, spread }
    }

    /// Creates a transform that uses at most the highest `enough` bits of each bucket, and at most
    /// 16 bits. Low bits do not affect the transform of high bits.
    pub(super) fn short(dimensions: usize, bits: u32, enough: u32) -> Self {
        // Dropping bits saves no time in one dimension, because the curve is a line.
        let kept = if dimensions == 1 { bits } else { bits.min(SHORT_BITS).min(enough.max(1)) };
        Self { dropped: bits - kept, ..Self::new(dimensions, kept) }
    }

    /// Computes the Hilbert values of a block of cells. The contents of `buckets` are unspecified
    /// afterwards.
    pub(super) fn apply(&self, buckets: &mut [Buckets], values: &mut [u64; BLOCK]) {
        let all_bits = buckets.iter().flatten().fold(0, |all, bucket| all | bucket);
        if all_bits >> (self.bits + self.dropped) != 0 {
            return self.apply_one_by_one(buckets, values);
        }
        if self.dropped > 0 {
            buckets.iter_mut().flatten().for_each(|bucket| *bucket >>= self.dropped);
        }
        macro_rules! lanes {
            ($($dimensions:literal)*) => {
                match self.dimensions {
                    // In one dimension the curve is a line.
                    1 => buckets.iter().for_each(|buckets| *values = *buckets),
                    2 if self.bits <= SHORT_BITS => self.apply_lanes::<u16, 2, 32>(buckets, values),
                    3 if self.bits <= SHORT_BITS => self.apply_lanes::<u16, 3, 32>(buckets, values),
                    2 => self.apply_lanes::<u32, 2, 8>(buckets, values),
                    3 => self.apply_lanes::<u32, 3, 8>(buckets, values),
                    $($dimensions => self.apply_lanes::<u16, $dimensions, 32>(buckets, values),)*
                    _ => self.apply_one_by_one(buckets, values),
                }
            };
        }
        lanes!(4 5 6 7 8 9 10 11 12 13 14 15 16);
    }

    fn apply_lanes<T: Lane, const DIMENSIONS: usize, const GROUP: usize>(
        &self,
        buckets: &mut [Buckets],
        values: &mut [u64; BLOCK],
    ) {
        let Ok(buckets) = <&mut [Buckets; DIMENSIONS]>::try_from(buckets) else { return };
        lanes::transform::<T, DIMENSIONS, GROUP>(buckets, self.bits);
        if self.dimensions == 2 && self.bits <= SHORT_BITS {
            for ((value, first), second) in values.iter_mut().zip(&buckets[0]).zip(&buckets[1]) {
                *value = u64::from(spread_in_two(*first) << 1 | spread_in_two(*second));
            }
            return;
        }
        values.fill(0);
        for (axis, buckets) in buckets.iter().enumerate() {
            // The first dimension has the highest bit of each group.
            let place = DIMENSIONS - 1 - axis;
            for (value, bucket) in values.iter_mut().zip(buckets) {
                *value |= self.spread(*bucket) << place;
            }
        }
    }

    /// Spreads the bits of a bucket `dimensions` places apart.
    #[inline]
    fn spread(&self, bucket: u64) -> u64 {
        let mut spread = 0;
        let mut place = 0;
        let mut rest = bucket;
        for _ in 0..self.bits.div_ceil(8) {
            let [byte, ..] = rest.to_le_bytes();
            spread |= self.spread[usize::from(byte)] << place;
            place += 8 * self.dimensions;
            rest >>= 8;
        }
        spread
    }

    /// Transforms one cell at a time, for blocks with buckets of more than `bits` bits.
    pub(super) fn apply_one_by_one(&self, buckets: &[Buckets], values: &mut [u64; BLOCK]) {
        let mut axes = [0; MOST_DIMENSIONS];
        let Some(axes) = axes.get_mut(..buckets.len()) else { return };
        for (cell, value) in values.iter_mut().enumerate() {
            for (axis, buckets) in axes.iter_mut().zip(buckets) {
                *axis = buckets[cell];
            }
            let all = self::value(axes, self.bits + self.dropped);
            *value = all >> (self.dropped * u32::try_from(axes.len()).unwrap_or(0));
        }
    }
}

/// Spreads the low sixteen bits of a number two places apart. Unlike a table lookup, the function
/// vectorizes.
#[inline]
#[allow(clippy::cast_possible_truncation)] // higher bits are dropped on purpose
fn spread_in_two(bucket: u64) -> u32 {
    let mut bits = bucket as u32 & 0xffff;
    bits = (bits | bits << 8) & 0x00ff_00ff;
    bits = (bits | bits << 4) & 0x0f0f_0f0f;
    bits = (bits | bits << 2) & 0x3333_3333;
    (bits | bits << 1) & 0x5555_5555
}

/// Returns the Hilbert value of a cell by the textbook algorithm. Tests compare the fast paths with
/// this function.
///
/// Buckets may have bits above the lowest `bits`. Like the reference library, this function does
/// not mask these bits. Such buckets occur at the upper bound in arrays with one dimension, and
/// along dimensions with a single coordinate.
pub(super) fn value(axes: &mut [u64], bits: u32) -> u64 {
    undo_rotations(axes, bits);
    gray_encode(axes, bits);
    let mut value = 0;
    for bit in (0..bits).rev() {
        for axis in axes.iter() {
            value = (value << 1) | ((axis >> bit) & 1);
        }
    }
    value
}

/// Undoes the rotations of the curve. The rotation at each bit affects all lower bits, so the loop
/// starts at the highest bit.
fn undo_rotations(axes: &mut [u64], bits: u32) {
    for bit in (1..bits).rev() {
        let lower = (1_u64 << bit) - 1;
        for index in 0..axes.len() {
            if (axes[index] >> bit) & 1 == 1 {
                axes[0] ^= lower;
            } else {
                let exchanged = (axes[0] ^ axes[index]) & lower;
                axes[0] ^= exchanged;
                axes[index] ^= exchanged;
            }
        }
    }
}

fn gray_encode(axes: &mut [u64], bits: u32) {
    for index in 1..axes.len() {
        axes[index] ^= axes[index - 1];
    }
    let Some((last, others)) = axes.split_last_mut() else { return };
    let before = *last;
    let mut shift = 1;
    while shift < bits {
        *last ^= *last >> shift;
        shift <<= 1;
    }
    for axis in others {
        *axis ^= before ^ *last;
    }
}
