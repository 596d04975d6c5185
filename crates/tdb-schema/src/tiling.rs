//! How a dimension is cut into space tiles, ready for use on many coordinates.

use tdb_types::{PhysicalType, Scalar};

use crate::divisor::Divisor;
use crate::scalar_bits::unsigned_bits;

/// The arithmetic from a coordinate to the index of its space tile, along one dimension.
///
/// Coordinates are [ordered keys](tdb_types::ordered_key). For integers and dates the index is the distance from the
/// domain's low end divided by the extent. For floats it is what the reference library computes: difference and quotient
/// in the dimension's own type, then the truncation of an x86-64 processor, which differs from Rust's for quotients that
/// no `u64` can hold (the domain of all doubles with a tile extent of infinity has them). Cells lie on disk in the order
/// that this gives, so it's part of the format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tiling(Kind);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Strings, and dimensions without tile extent.
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
    /// Of a dimension whose domain begins with `low`.
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

    /// Whether the dimension is a single tile, so that it has no say in the order of tiles.
    #[must_use]
    pub fn is_one_tile(&self) -> bool {
        self.0 == Kind::OneTile
    }

    /// Coordinates per tile, for integers and dates with a tile extent.
    #[must_use]
    pub fn extent_cells(&self) -> Option<u64> {
        match self.0 {
            Kind::Integer { extent, .. } => Some(extent.get()),
            _ => None,
        }
    }

    /// The tile of one coordinate; coordinates of integers below the domain count as its low end.
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

    /// Appends the tile of each coordinate to `indices`.
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

/// The float with this ordered key.
#[inline]
pub(crate) fn float32_of_key(key: u64) -> f32 {
    match Scalar::from_key(PhysicalType::F32, key) {
        Scalar::F32(value) => value,
        _ => 0.0,
    }
}

/// The double with this ordered key.
#[inline]
pub(crate) fn float64_of_key(key: u64) -> f64 {
    match Scalar::from_key(PhysicalType::F64, key) {
        Scalar::F64(value) => value,
        _ => 0.0,
    }
}

/// A double as the `u64` that compiled C++ makes of it on x86-64, also where the language leaves it undefined: values
/// below 2^63 (and NaN) are truncated to an `i64`, of which the lowest stands for whatever doesn't fit; from 2^63 on, 2^63
/// is subtracted before and added after.
#[inline]
pub(crate) fn truncate(value: f64) -> u64 {
    const TWO_TO_THE_63: f64 = 9_223_372_036_854_775_808.0;
    const SIGN: u64 = 1 << 63;
    if value >= TWO_TO_THE_63 { truncate_signed(value - TWO_TO_THE_63) ^ SIGN } else { truncate_signed(value) }
}

/// The bits of a double truncated to an `i64`, or of the lowest `i64` if it doesn't fit.
#[inline]
#[allow(clippy::cast_possible_truncation)] // truncation is what is asked for
fn truncate_signed(value: f64) -> u64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let integer = if (-LIMIT..LIMIT).contains(&value) { value as i64 } else { i64::MIN };
    integer.cast_unsigned()
}

#[cfg(test)]
mod tests;
