//! Statistics of cells.

use std::fmt;

use super::trust::Statistic;

/// A sum of values, in the widest type of their kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sum {
    /// The sum of signed integers, characters, dates or times.
    I64(i64),
    /// The sum of unsigned integers or booleans.
    U64(u64),
    /// The sum of floats.
    F64(f64),
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::I64(sum) => sum.fmt(f),
            Self::U64(sum) => sum.fmt(f),
            Self::F64(sum) => sum.fmt(f),
        }
    }
}

/// The minimum, maximum, sum and null count of the cells of a field in a tile or in the fragment.
/// Null cells count only in `null_count`.
///
/// Values are little-endian, in the datatype of the field. Characters and strings compare as
/// unsigned bytes, with a shorter prefix first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueStatistics<'a> {
    /// The minimum.
    pub min: Statistic<&'a [u8]>,
    /// The maximum.
    pub max: Statistic<&'a [u8]>,
    /// The sum.
    pub sum: Statistic<Sum>,
    /// The number of null cells.
    pub null_count: Statistic<u64>,
}
