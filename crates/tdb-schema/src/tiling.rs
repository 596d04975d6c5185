//! Mapping of coordinates to space tiles, prepared for many coordinates.

use tdb_types::{PhysicalType, Scalar};

use crate::divisor::Divisor;
use crate::scalar_bits::unsigned_bits;

/// The mapping from a coordinate to the index of its space tile, along a dimension.
///
/// Coordinates are [ordered keys](tdb_types::ordered_key). For integers and dates, the index is the
/// distance from the low end of the domain divided by the extent.
///
/// For floats, the index matches the reference library: difference and quotient in the type of the
/// dimension, truncated like on an x86-64 processor. Truncation differs from Rust's for quotients
/// that exceed `u64`, such as those of the domain of all doubles with an infinite extent. The order
/// of cells on disk depends on this behavior, so it is part of the format.
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

    /// Returns `true` if the dimension is a single tile and therefore does not affect the order of
    /// tiles.
    #[must_use]
    pub fn is_one_tile(&self) -> bool {
        self.0 == Kind::OneTile
    }

    /// Returns the number of coordinates per tile, for integers and dates with a tile extent.
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

/// Converts a double to `u64` like compiled C++ on x86-64, also where the language leaves the
/// result undefined.
///
/// Values below 2^63 and NaN are truncated to an `i64`, with the minimum `i64` for values that do
/// not fit. For values from 2^63 on, 2^63 is subtracted before and added after.
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
