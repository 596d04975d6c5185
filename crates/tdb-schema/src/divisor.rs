//! Fast division by a constant.

/// A divisor with a precomputed reciprocal. A division takes a multiplication, two additions and
/// two shifts.
///
/// The method is Granlund and Montgomery's ("Division by Invariant Integers using Multiplication",
/// 1994). With `l = ceil(log2 d)`, the reciprocal `2^64 (2^l - d) / d + 1` gives the exact quotient
/// of every 64-bit dividend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    reciprocal: u64,
    first_shift: u32,
    second_shift: u32,
    divisor: u64,
}

impl Divisor {
    /// Computes the reciprocal of `divisor`. Returns `None` for 0.
    pub(crate) fn new(divisor: u64) -> Option<Self> {
        let log = match divisor {
            0 => return None,
            1 => 0,
            more => u64::BITS - (more - 1).leading_zeros(),
        };
        let excess = (1_u128 << log) - u128::from(divisor);
        let reciprocal = (excess << u64::BITS) / u128::from(divisor) + 1;
        Some(Self {
            reciprocal: low_half(reciprocal),
            first_shift: log.min(1),
            second_shift: log.saturating_sub(1),
            divisor,
        })
    }

    /// Returns the divisor.
    pub(crate) fn get(self) -> u64 {
        self.divisor
    }

    /// Returns `dividend / divisor`.
    #[inline]
    pub(crate) fn divide(self, dividend: u64) -> u64 {
        let high = low_half((u128::from(self.reciprocal) * u128::from(dividend)) >> u64::BITS);
        // `high` is at most `dividend`. The sum is also at most `dividend` and does not overflow.
        (high.wrapping_add(dividend.wrapping_sub(high) >> self.first_shift)) >> self.second_shift
    }
}

#[inline]
#[allow(clippy::cast_possible_truncation)] // truncates on purpose
fn low_half(value: u128) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Divisor;

    fn check(dividend: u64, divisor: u64) {
        let quotient = Divisor::new(divisor).map(|prepared| prepared.divide(dividend));
        assert_eq!(quotient, dividend.checked_div(divisor), "{dividend} / {divisor}");
    }

    #[test]
    fn edges() {
        let powers = (0..64).map(|bit| 1_u64 << bit);
        let edges: Vec<u64> =
            powers.flat_map(|p| [p.wrapping_sub(1), p, p.wrapping_add(1), !p, p.wrapping_neg()]).collect();
        for &dividend in &edges {
            for &divisor in &edges {
                check(dividend, divisor);
            }
        }
    }

    proptest! {
        #[test]
        fn equals_division(dividend: u64, divisor: u64, shift in 0_u32..64) {
            check(dividend, divisor);
            check(dividend, divisor >> shift);
            check(dividend >> shift, divisor);
        }
    }
}
