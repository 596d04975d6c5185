//! Mapping of coordinates to space tiles, prepared for many coordinates.

use tdb_types::{PhysicalType, Scalar};

use crate::divisor::Divisor;
use crate::scalar_bits::unsigned_bits;

/// The mapping from a coordinate to the index of its space tile, along a dimension.
///
/// Coordinates are [ordered keys](tdb_types::ordered_key). For integers, dates and times, the index
/// is the distance from the low end of the domain divided by the extent, rounded down.
///
/// For floats, the index matches the reference library: difference and quotient in the type of the
/// dimension, truncated like on an x86-64 processor. Truncation differs from Rust's for NaN and for
/// quotients that do not fit `u64`. Such quotients occur, for example, with an infinite extent over
/// all doubles. The order of cells on disk depends on this truncation, which is therefore part of
/// the format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tiling(Kind);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Strings, and dimensions without a tile extent.
    OneTile,
    Integer {
        low: u64,
        extent: Divisor,
    },
    Float32 {
        low: f32,
        extent: f32,
    },
    Float64 {
        low: f64,
        extent: f64,
    },
}

impl Tiling {
    /// Creates the tiling of a dimension whose domain begins at `low`.
    pub(crate) fn of(low: Option<Scalar>, extent: Option<Scalar>) -> Self {
        Self(low.zip(extent).and_then(Self::kind).unwrap_or(Kind::OneTile))
    }

    fn kind(low_and_extent: (Scalar, Scalar)) -> Option<Kind> {
        match low_and_extent {
            (Scalar::F32(low), Scalar::F32(extent)) => Some(Kind::Float32 { low, extent }),
            (Scalar::F64(low), Scalar::F64(extent)) => Some(Kind::Float64 { low, extent }),
            (low, extent) => Some(Kind::Integer { low: low.key(), extent: Divisor::new(unsigned_bits(extent))? }),
        }
    }

    /// Returns `true` for strings and dimensions without a tile extent. All their coordinates are
    /// in tile 0.
    #[must_use]
    pub fn is_one_tile(&self) -> bool {
        self.0 == Kind::OneTile
    }

    /// Returns the number of coordinates per tile, for integers, dates and times with a tile
    /// extent. Returns `None` otherwise.
    #[must_use]
    pub fn extent_cells(&self) -> Option<u64> {
        match self.0 {
            Kind::Integer { extent, .. } => Some(extent.get()),
            _ => None,
        }
    }

    /// Returns the tile index of a coordinate. An integer below the domain gets index 0.
    #[inline]
    #[must_use]
    pub fn index(&self, key: u64) -> u64 {
        match self.0 {
            Kind::OneTile => 0,
            Kind::Integer { low, extent } => integer_index(key, low, extent),
            Kind::Float32 { low, extent } => float32_index(key, low, extent),
            Kind::Float64 { low, extent } => float64_index(key, low, extent),
        }
    }

    /// Appends the tile index of each coordinate to `indices`.
    pub fn indices(&self, keys: &[u64], indices: &mut Vec<u64>) {
        let keys = keys.iter().copied();
        match self.0 {
            Kind::OneTile => indices.extend(keys.map(|_| 0)),
            Kind::Integer { low, extent } => indices.extend(keys.map(|key| integer_index(key, low, extent))),
            Kind::Float32 { low, extent } => indices.extend(keys.map(|key| float32_index(key, low, extent))),
            Kind::Float64 { low, extent } => indices.extend(keys.map(|key| float64_index(key, low, extent))),
        }
    }
}

#[inline]
fn integer_index(key: u64, low: u64, extent: Divisor) -> u64 {
    extent.divide(key.saturating_sub(low))
}

#[inline]
fn float32_index(key: u64, low: f32, extent: f32) -> u64 {
    truncate(f64::from((float32_of_key(key) - low) / extent))
}

#[inline]
fn float64_index(key: u64, low: f64, extent: f64) -> u64 {
    truncate((float64_of_key(key) - low) / extent)
}

/// Returns the float with this ordered key.
#[inline]
pub(crate) fn float32_of_key(key: u64) -> f32 {
    match Scalar::from_key(PhysicalType::F32, key) {
        Scalar::F32(value) => value,
        _ => 0.0,
    }
}

/// Returns the double with this ordered key.
#[inline]
pub(crate) fn float64_of_key(key: u64) -> f64 {
    match Scalar::from_key(PhysicalType::F64, key) {
        Scalar::F64(value) => value,
        _ => 0.0,
    }
}

/// Converts a double to `u64` like compiled C++ on x86-64, even where C++ leaves the result
/// undefined.
///
/// Values below 2^63 are truncated to an `i64`. NaN and values that do not fit become the minimum
/// `i64`. Values from 2^63 on are reduced by 2^63 before the truncation and increased by 2^63
/// afterwards.
#[inline]
pub(crate) fn truncate(value: f64) -> u64 {
    const TWO_TO_THE_63: f64 = 9_223_372_036_854_775_808.0;
    const SIGN: u64 = 1 << 63;
    if value >= TWO_TO_THE_63 { truncate_signed(value - TWO_TO_THE_63) ^ SIGN } else { truncate_signed(value) }
}

/// Truncates a double to an `i64` and returns its bits. Returns the bits of the minimum `i64` if
/// the value does not fit.
#[inline]
#[allow(clippy::cast_possible_truncation)] // truncation is intended
fn truncate_signed(value: f64) -> u64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let integer = if (-LIMIT..LIMIT).contains(&value) { value as i64 } else { i64::MIN };
    integer.cast_unsigned()
}

#[cfg(test)]
mod tests;
