//! Scaling of coordinates to buckets, along a dimension.

use tdb_types::{PhysicalType, with_physical};

use super::block::BLOCK;
use super::column::CoordinateColumn;
use crate::Dimension;
use crate::tiling::{float32_of_key, float64_of_key, truncate};

/// The scaling of a dimension's coordinates to buckets.
#[derive(Clone, Debug)]
pub(super) enum Axis {
    /// Scales in double precision for every datatype, because the buckets depend on this rounding
    /// in the reference library.
    Number { physical: PhysicalType, scale: Scale },
    /// Uses the highest `bits` bits of the first eight bytes.
    String { bits: u32 },
}

/// A linear map from the domain to the buckets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    width: f64,
    most: f64,
}

impl Scale {
    /// Computes the buckets of at most [`BLOCK`] values.
    #[inline]
    fn buckets(self, values: impl Iterator<Item = f64>, buckets: &mut [u64]) {
        let mut places = [0.0; BLOCK];
        for (place, value) in places.iter_mut().zip(values) {
            *place = (value - self.low) / self.width * self.most;
        }
        truncate_block(&places, buckets);
    }
}

/// Truncates doubles like [`truncate`].
///
/// Avoids a branch per double if all are small and not negative, which holds for coordinates within
/// the domain.
fn truncate_block(places: &[f64; BLOCK], buckets: &mut [u64]) {
    /// Doubles between this number and twice this number are integers. Adding this number therefore
    /// rounds to the nearest integer.
    const ROUNDER: f64 = 4_503_599_627_370_496.0;
    let are_small = places.iter().fold(true, |all, place| all & (*place >= 0.0) & (*place < ROUNDER));
    if are_small {
        for (bucket, place) in buckets.iter_mut().zip(places) {
            let rounded = place + ROUNDER;
            let is_above = rounded - ROUNDER > *place;
            *bucket = rounded.to_bits() - ROUNDER.to_bits() - u64::from(is_above);
        }
    } else {
        for (bucket, place) in buckets.iter_mut().zip(places) {
            *bucket = truncate(*place);
        }
    }
}

impl Axis {
    #[allow(clippy::cast_precision_loss)] // the reference library also rounds the number of buckets to a double
    pub(super) fn new(dimension: &Dimension, bits: u32) -> Self {
        match dimension.domain() {
            Some((low, high)) => {
                let (low, high) = (low.to_f64(), high.to_f64());
                let most = ((1_u64 << bits) - 1) as f64;
                Self::Number { physical: dimension.physical(), scale: Scale { low, width: high - low, most } }
            }
            None => Self::String { bits },
        }
    }

    /// Returns the number of high bits of a bucket that distinguish most coordinates of the
    /// dimension.
    pub(super) fn telling_bits(dimension: &Dimension) -> u32 {
        match dimension.domain_keys() {
            // One bit more than the coordinates have, because rounding maps some coordinates to the
            // same bucket.
            Some((low, high)) if !dimension.physical().is_float() => {
                u64::BITS + 1 - high.saturating_sub(low).leading_zeros()
            }
            _ => u64::BITS,
        }
    }

    /// Returns the size of a value in bytes, or 1 for strings.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Number { physical, .. } => physical.size(),
            Self::String { .. } => 1,
        }
    }

    /// Computes the buckets of the cells of `column` from `start` on, until `buckets` is full.
    pub(super) fn buckets(&self, column: &CoordinateColumn<'_>, start: usize, buckets: &mut [u64]) {
        match (self, column) {
            (Self::Number { physical, scale }, CoordinateColumn::Keys(keys)) => {
                let keys = keys.get(start..).unwrap_or_default();
                scale_keys(*physical, *scale, keys, buckets);
            }
            (Self::Number { physical, scale }, CoordinateColumn::Values(bytes)) => {
                let bytes = bytes.get(start * physical.size()..).unwrap_or_default();
                scale_values(*physical, *scale, bytes, buckets);
            }
            (Self::String { bits }, CoordinateColumn::Strings { .. }) => {
                for (cell, bucket) in buckets.iter_mut().enumerate() {
                    *bucket = string_bucket(column.string(start + cell), *bits);
                }
            }
            _ => buckets.fill(0),
        }
    }

    /// Returns bounds for the buckets of all coordinates between the two coordinates of `column`.
    ///
    /// Returns `None` if `column` does not have exactly two coordinates, or is not a column of keys
    /// or strings as the axis requires.
    pub(super) fn range(&self, column: &CoordinateColumn<'_>) -> Option<(u64, u64)> {
        match (self, column) {
            (Self::String { bits }, CoordinateColumn::Strings { offsets: [_, _], .. }) => {
                let (low, high) = (column.string(0), column.string(1));
                if low == high {
                    return Some((string_bucket(low, *bits), string_bucket(low, *bits)));
                }
                // A byte of 0x80 or above moves a string into the upper half, regardless of the
                // preceding bytes. Buckets of ASCII strings sort like the strings.
                let ascii = low.split(|byte| !byte.is_ascii()).next().unwrap_or_default();
                Some((string_bucket(ascii, *bits), (1 << bits) - 1))
            }
            (Self::Number { .. }, CoordinateColumn::Keys([_, _])) => {
                let mut ends = [0; 2];
                self.buckets(column, 0, &mut ends);
                Some((ends[0], ends[1]))
            }
            _ => None,
        }
    }
}

#[allow(clippy::cast_precision_loss)] // the format rounds to a double
fn scale_keys(physical: PhysicalType, scale: Scale, keys: &[u64], buckets: &mut [u64]) {
    let keys = keys.iter().copied();
    match physical {
        PhysicalType::F32 => scale.buckets(keys.map(|key| f64::from(float32_of_key(key))), buckets),
        PhysicalType::F64 => scale.buckets(keys.map(float64_of_key), buckets),
        signed if signed.is_signed_integer() => {
            // The key of a signed integer is the distance from the minimum of its type.
            let lowest = 1_u64 << (8 * signed.size() - 1);
            scale.buckets(keys.map(|key| key.wrapping_sub(lowest).cast_signed() as f64), buckets);
        }
        _ => scale.buckets(keys.map(|key| key as f64), buckets),
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_lossless)] // the format rounds to a double
fn scale_values(physical: PhysicalType, scale: Scale, bytes: &[u8], buckets: &mut [u64]) {
    fn values<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
        bytes.as_chunks::<N>().0.iter().copied()
    }
    with_physical!(physical, T => scale.buckets(values(bytes).map(|b| T::from_le_bytes(b) as f64), buckets));
}

/// Returns the bucket of a string: its first eight bytes in big-endian order, cut to `bits`.
///
/// The reference library adds each byte as a signed number. A byte of 0x80 or above therefore sets
/// all bits of the preceding bytes. The order of cells on disk depends on this behavior.
fn string_bucket(string: &[u8], bits: u32) -> u64 {
    let first = (0..8).map(|place| string.get(place).copied().unwrap_or(0));
    let word = first.fold(0_u64, |word, byte| (word << 8) | i64::from(byte.cast_signed()).cast_unsigned());
    word >> (64 - bits)
}
