//! From coordinates to buckets, along one dimension.

use tdb_types::PhysicalType;

use super::CoordinateColumn;
use crate::Dimension;
use crate::tiling::{float32_of_key, float64_of_key, truncate};

/// How the coordinates of one dimension are scaled to buckets.
#[derive(Clone, Debug)]
pub(super) enum Axis {
    /// In double arithmetic, whatever the datatype: the format's buckets carry its rounding.
    Number { physical: PhysicalType, scale: Scale },
    /// The first eight bytes, of which the highest `bits` remain.
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
    #[inline]
    fn bucket(self, value: f64) -> u64 {
        truncate((value - self.low) / self.width * self.most)
    }
}

impl Axis {
    #[allow(clippy::cast_precision_loss)] // the reference rounds the number of buckets to a double as well
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

    /// Bytes of a value, for columns of values; 1 for strings.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Number { physical, .. } => physical.size(),
            Self::String { .. } => 1,
        }
    }

    /// The buckets of the cells of `column` from `start` on, as many as `buckets` has room for.
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

    /// Between which buckets lie those of all coordinates from the first to the second one of `column`; none if it hasn't
    /// two.
    pub(super) fn range(&self, column: &CoordinateColumn<'_>) -> Option<(u64, u64)> {
        match (self, column) {
            (Self::String { bits }, CoordinateColumn::Strings { offsets: [_, _], .. }) => {
                let (low, high) = (column.string(0), column.string(1));
                if low == high {
                    return Some((string_bucket(low, *bits), string_bucket(low, *bits)));
                }
                // Bytes from 0x80 on bring a string into the upper half, wherever it begins; others compare as they are.
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

#[allow(clippy::cast_precision_loss)] // rounding to a double is what the format does
fn scale_keys(physical: PhysicalType, scale: Scale, keys: &[u64], buckets: &mut [u64]) {
    fn each(keys: &[u64], buckets: &mut [u64], bucket: impl Fn(u64) -> u64) {
        for (to, key) in buckets.iter_mut().zip(keys) {
            *to = bucket(*key);
        }
    }
    match physical {
        PhysicalType::F32 => each(keys, buckets, |key| scale.bucket(f64::from(float32_of_key(key)))),
        PhysicalType::F64 => each(keys, buckets, |key| scale.bucket(float64_of_key(key))),
        signed if signed.is_signed_integer() => {
            // The key of a signed integer is its distance from the lowest.
            let lowest = 1_u64 << (8 * signed.size() - 1);
            each(keys, buckets, |key| scale.bucket(key.wrapping_sub(lowest).cast_signed() as f64));
        }
        _ => each(keys, buckets, |key| scale.bucket(key as f64)),
    }
}

#[allow(clippy::cast_precision_loss)] // rounding to a double is what the format does
fn scale_values(physical: PhysicalType, scale: Scale, bytes: &[u8], buckets: &mut [u64]) {
    fn each<const N: usize>(bytes: &[u8], buckets: &mut [u64], bucket: impl Fn([u8; N]) -> u64) {
        let (values, _) = bytes.as_chunks::<N>();
        for (to, value) in buckets.iter_mut().zip(values) {
            *to = bucket(*value);
        }
    }
    match physical {
        PhysicalType::I8 => each(bytes, buckets, |b| scale.bucket(f64::from(i8::from_le_bytes(b)))),
        PhysicalType::U8 => each(bytes, buckets, |b| scale.bucket(f64::from(u8::from_le_bytes(b)))),
        PhysicalType::I16 => each(bytes, buckets, |b| scale.bucket(f64::from(i16::from_le_bytes(b)))),
        PhysicalType::U16 => each(bytes, buckets, |b| scale.bucket(f64::from(u16::from_le_bytes(b)))),
        PhysicalType::I32 => each(bytes, buckets, |b| scale.bucket(f64::from(i32::from_le_bytes(b)))),
        PhysicalType::U32 => each(bytes, buckets, |b| scale.bucket(f64::from(u32::from_le_bytes(b)))),
        PhysicalType::I64 => each(bytes, buckets, |b| scale.bucket(i64::from_le_bytes(b) as f64)),
        PhysicalType::U64 => each(bytes, buckets, |b| scale.bucket(u64::from_le_bytes(b) as f64)),
        PhysicalType::F32 => each(bytes, buckets, |b| scale.bucket(f64::from(f32::from_le_bytes(b)))),
        PhysicalType::F64 => each(bytes, buckets, |b| scale.bucket(f64::from_le_bytes(b))),
    }
}

/// The bucket of a string: its first eight bytes, the first one highest, cut to `bits`.
///
/// The reference adds each byte as a signed number: one of 0x80 or above fills everything above it with ones, whatever
/// stood there. Cells lie on disk in the order that this gives.
fn string_bucket(string: &[u8], bits: u32) -> u64 {
    let first = (0..8).map(|place| string.get(place).copied().unwrap_or(0));
    let word = first.fold(0_u64, |word, byte| (word << 8) | i64::from(byte.cast_signed()).cast_unsigned());
    word >> (64 - bits)
}
