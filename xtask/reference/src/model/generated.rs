//! Writes of generated cells. Gigabytes of cells need no transfer between processes.

use serde::{Deserialize, Serialize};
use tdb_types::Layout;

use super::build::{column, nullable, var_column};
use super::{Bytes, Column, WriteSpec};

/// A write of cells that follow rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneratedWrite {
    pub layout: Layout,
    pub subarray: Option<Vec<(Bytes, Bytes)>>,
    pub timestamp: Option<u64>,
    pub cells: u64,
    pub columns: Vec<(String, Rule)>,
}

/// A rule that determines each cell of a column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// `f64`: a slow staircase with a little noise, like data of sensors or images.
    Wave { seed: u64 },
    /// `i64`: ascending with irregular steps, like timestamps.
    Ascending { seed: u64 },
    /// `i64`: a coordinate of a unique point, spread over a square of `2^bits` by `2^bits`. The low
    /// half of the point's number is dimension 1, and the high half is dimension 0.
    Scattered { seed: u64, bits: u32, dimension: u32 },
    /// One of 5,000 strings of 3 to 18 bytes.
    Word { seed: u64 },
    /// A unique string of 12 bytes.
    UniqueWord { seed: u64 },
    /// Strings of [`Word`](Self::Word), each repeated 16 times.
    WordRuns { seed: u64 },
    /// `u8`: a slow ramp with a little noise, like image data.
    Pixel { seed: u64 },
    /// A [`Wave`](Self::Wave) with one in eight cells null.
    MaybeWave { seed: u64 },
    /// A [`Word`](Self::Word) with one in eight cells null.
    MaybeWord { seed: u64 },
}

impl GeneratedWrite {
    /// Generates the cells of the write.
    pub fn materialise(&self) -> WriteSpec {
        let cells = self.columns.iter().map(|(name, rule)| rule.column(name, self.cells)).collect();
        WriteSpec { layout: self.layout, subarray: self.subarray.clone(), timestamp: self.timestamp, cells }
    }
}

impl Rule {
    /// Returns the [`Scattered`](Self::Scattered) coordinate of a cell.
    pub fn scattered(seed: u64, bits: u32, dimension: u32, cell: u64) -> i64 {
        let point = scatter(seed, bits, cell);
        (if dimension == 0 { point >> bits } else { point & (u64::MAX >> (64 - bits)) }) as i64
    }

    fn column(self, name: &str, count: u64) -> Column {
        let cells = 0..count;
        match self {
            Self::Wave { seed } => column(name, cells.map(|cell| wave(seed, cell))),
            Self::Ascending { seed } => column(name, cells.map(|cell| ascending(seed, cell))),
            Self::Scattered { seed, bits, dimension } => {
                column(name, cells.map(|cell| Self::scattered(seed, bits, dimension, cell)))
            }
            Self::Word { seed } => var_column(name, cells.map(|cell| word(mix(seed ^ cell) % 5000))),
            Self::WordRuns { seed } => var_column(name, cells.map(|cell| word(mix(seed ^ (cell / 16)) % 5000))),
            Self::Pixel { seed } => column(name, cells.map(|cell| pixel(seed, cell))),
            Self::MaybeWave { seed } => with_nulls(Self::Wave { seed }.column(name, count), seed, count),
            Self::MaybeWord { seed } => {
                let value = |cell| if is_null(seed, cell) { String::new() } else { word(mix(seed ^ cell) % 5000) };
                with_nulls(var_column(name, cells.map(value)), seed, count)
            }
            Self::UniqueWord { seed } => {
                var_column(name, cells.map(|cell| format!("{:012x}", scatter(seed, 24, cell))))
            }
        }
    }
}

/// Adds nulls to a column, and keeps its values.
fn with_nulls(column: Column, seed: u64, cells: u64) -> Column {
    nullable(column, (0..cells).map(|cell| !is_null(seed, cell)))
}

fn is_null(seed: u64, cell: u64) -> bool {
    mix(seed ^ cell).is_multiple_of(8)
}

fn pixel(seed: u64, cell: u64) -> u8 {
    let wave = (cell / 32 + seed) % 200;
    (wave + mix(seed ^ cell) % 8) as u8
}

/// Maps consecutive numbers to random-looking numbers (SplitMix64).
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

fn wave(seed: u64, cell: u64) -> f64 {
    let step = (cell / 48 + seed) % 977;
    let noise = mix(seed ^ cell) % 16;
    step as f64 / 8.0 + noise as f64 / 128.0
}

fn ascending(seed: u64, cell: u64) -> i64 {
    (cell * 1000 + mix(seed ^ cell) % 900) as i64
}

/// Maps `0..2^(2 bits)` to itself bijectively: multiplies by an odd number modulo a power of two.
fn scatter(seed: u64, bits: u32, cell: u64) -> u64 {
    let mask = u64::MAX >> (64 - 2 * bits);
    let point = cell.wrapping_mul(0x9e37_79b9_7f4a_7c15 | 1).wrapping_add(mix(seed)) & mask;
    // The low bits of a product are too regular. Mixing in the high bits is a bijection too.
    point ^ point >> bits
}

fn word(number: u64) -> String {
    let letters = usize::try_from(mix(number) % 16).unwrap_or(0);
    format!("{:03}{}", number % 1000, &"abcdefghijklmnop"[..letters])
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn scattered_points_are_distinct() {
        let points: HashSet<_> = (0..1 << 12).map(|cell| scatter(7, 6, cell)).collect();
        assert_eq!(points.len(), 1 << 12);
    }
}
