//! Sums.

use tdb_types::PhysicalType;

/// A sum of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Total {
    /// The sum of signed integers, dates or times. Cannot overflow for any 64-bit number of cells.
    Signed(i128),
    /// The sum of unsigned integers or booleans.
    Unsigned(i128),
    /// The sum of floats.
    Float {
        /// The sum according to IEEE 754.
        sum: f64,
        /// `true` if finite values overflowed the range of doubles.
        overflowed: bool,
    },
}

/// A sum in the type of the reference library: the widest type of its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sum {
    /// The sum of signed integers, dates or times.
    I64(i64),
    /// The sum of unsigned integers or booleans.
    U64(u64),
    /// The sum of floats.
    F64(f64),
}

impl Total {
    /// Returns the sum of no values of this type.
    #[must_use]
    pub fn zero(physical: PhysicalType) -> Self {
        match physical {
            physical if physical.is_float() => Self::Float { sum: 0.0, overflowed: false },
            physical if physical.is_signed_integer() => Self::Signed(0),
            _ => Self::Unsigned(0),
        }
    }

    /// Adds the sum of other numbers of the same type.
    pub fn add(&mut self, other: Self) {
        match (self, other) {
            (Self::Signed(sum) | Self::Unsigned(sum), Self::Signed(other) | Self::Unsigned(other)) => {
                *sum = sum.saturating_add(other);
            }
            (Self::Float { sum, overflowed }, Self::Float { sum: other, overflowed: others }) => {
                // Infinities and NaNs among the values determine the result, regardless of finite
                // values.
                let is_special = |sum: f64, overflowed: bool| !overflowed && !sum.is_finite();
                match (is_special(*sum, *overflowed), is_special(other, others)) {
                    (true, false) => {}
                    (false, true) => (*sum, *overflowed) = (other, false),
                    (true, true) => *sum += other,
                    (false, false) => {
                        *sum += other;
                        *overflowed |= others || !sum.is_finite();
                    }
                }
            }
            _ => {}
        }
    }

    /// Multiplies the sum by `count`.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        match self {
            Self::Signed(sum) => Self::Signed(sum.saturating_mul(count.into())),
            Self::Unsigned(sum) => Self::Unsigned(sum.saturating_mul(count.into())),
            Self::Float { sum, overflowed } => {
                #[allow(clippy::cast_precision_loss)] // floats round
                let product = if count == 0 { 0.0 } else { sum * count as f64 };
                Self::Float { sum: product, overflowed: overflowed || sum.is_finite() && !product.is_finite() }
            }
        }
    }

    /// Returns the sum in the type of the reference library, and whether it fits.
    ///
    /// On overflow in either direction, the sum is the maximum of the type.
    #[must_use]
    pub fn sum(self) -> (Sum, bool) {
        match self {
            Self::Signed(sum) => {
                let fitting = i64::try_from(sum);
                (Sum::I64(fitting.unwrap_or(i64::MAX)), fitting.is_ok())
            }
            Self::Unsigned(sum) => {
                let fitting = u64::try_from(sum);
                (Sum::U64(fitting.unwrap_or(u64::MAX)), fitting.is_ok())
            }
            Self::Float { overflowed: true, .. } => (Sum::F64(f64::MAX), false),
            Self::Float { sum, .. } => (Sum::F64(sum), true),
        }
    }

    /// Returns the mean of `values` values with this sum, or `None` if `values` is 0. The mean is
    /// the maximum double if the sum of floats overflowed.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // a mean is a double
    pub fn mean(self, values: u64) -> Option<f64> {
        if values == 0 {
            return None;
        }
        let values = i128::from(values);
        Some(match self {
            // The integer part is computed separately, because a double represents it more
            // precisely than the sum.
            Self::Signed(sum) | Self::Unsigned(sum) => (sum / values) as f64 + (sum % values) as f64 / values as f64,
            Self::Float { overflowed: true, .. } => f64::MAX,
            Self::Float { sum, .. } => sum / values as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Sum, Total};

    #[test]
    fn only_the_final_sum_saturates() {
        let mut total = Total::Signed(i64::MAX.into());
        total.add(Total::Signed(5));
        assert_eq!(total.sum(), (Sum::I64(i64::MAX), false));
        total.add(Total::Signed(-6));
        assert_eq!(total.sum(), (Sum::I64(i64::MAX - 1), true));
        assert_eq!(Total::Unsigned(u64::MAX.into()).sum(), (Sum::U64(u64::MAX), true));
        assert_eq!(Total::Unsigned(i128::from(u64::MAX) + 1).sum(), (Sum::U64(u64::MAX), false));
    }

    #[test]
    fn infinities_are_values_and_overflow_is_not() {
        let float = |sum| Total::Float { sum, overflowed: false };
        let mut total = float(f64::MAX);
        total.add(float(f64::MAX));
        assert_eq!(total.sum(), (Sum::F64(f64::MAX), false));
        assert_eq!(total.mean(2), Some(f64::MAX));
        let mut total = float(f64::MAX);
        total.add(float(f64::INFINITY));
        assert_eq!(total.sum(), (Sum::F64(f64::INFINITY), true));
        assert_eq!(float(1e308).times(3).sum(), (Sum::F64(f64::MAX), false));
        assert_eq!(float(f64::INFINITY).times(0).sum(), (Sum::F64(0.0), true));
    }

    #[test]
    fn means() {
        assert_eq!(Total::Signed(-7).mean(2), Some(-3.5));
        assert_eq!(Total::Unsigned(3 * i128::from(u64::MAX)).mean(3), Some(u64::MAX as f64));
        assert_eq!(Total::Signed(0).mean(0), None);
    }
}
