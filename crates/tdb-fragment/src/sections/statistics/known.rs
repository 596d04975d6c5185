//! What is known of some cells.

use std::fmt;

use super::trust::Statistic;

/// The sum of some values, in the widest type of their kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sum {
    /// Of signed integers, characters, dates and times.
    I64(i64),
    /// Of unsigned integers and booleans.
    U64(u64),
    /// Of floats.
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

/// Least and greatest value, sum and null count of some cells of one field. Null cells count only in the last.
///
/// Values are little-endian, in the field's datatype. Characters and strings compare as unsigned bytes, shorter prefix
/// first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueStatistics<'a> {
    /// The least value.
    pub min: Statistic<&'a [u8]>,
    /// The greatest value.
    pub max: Statistic<&'a [u8]>,
    /// The sum of the values.
    pub sum: Statistic<Sum>,
    /// How many cells are null.
    pub null_count: Statistic<u64>,
}
