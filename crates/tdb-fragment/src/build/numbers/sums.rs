//! Saturating sums.

/// A sum of numbers.
pub(super) trait Sum: Copy {
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
    /// Returns the sum. On overflow, the error is the end of the range.
    fn plus(self, other: Self) -> Result<Self, Self>;
}

impl Sum for i64 {
    fn from_bits(bits: u64) -> Self {
        bits.cast_signed()
    }
    fn bits(self) -> u64 {
        self.cast_unsigned()
    }
    fn plus(self, other: Self) -> Result<Self, Self> {
        self.checked_add(other).ok_or(if self < 0 { Self::MIN } else { Self::MAX })
    }
}

impl Sum for u64 {
    fn from_bits(bits: u64) -> Self {
        bits
    }
    fn bits(self) -> u64 {
        self
    }
    fn plus(self, other: Self) -> Result<Self, Self> {
        self.checked_add(other).ok_or(Self::MAX)
    }
}

impl Sum for f64 {
    fn from_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
    fn plus(self, other: Self) -> Result<Self, Self> {
        // The comparisons are `false` for NaN. A NaN is therefore added.
        if (self < 0.0) == (other < 0.0) && self.abs() > Self::MAX - other.abs() {
            return Err(if self < 0.0 { Self::MIN } else { Self::MAX });
        }
        let sum = self + other;
        Ok(if sum.is_nan() { nan_of(self, other, sum) } else { sum })
    }
}

/// Returns the NaN of a sum with NaN operands: the first operand, like on x86 processors. Compilers
/// may swap the operands.
#[cold]
fn nan_of(a: f64, b: f64, sum: f64) -> f64 {
    const QUIET: u64 = 1 << 51;
    match (a.is_nan(), b.is_nan()) {
        (true, _) => f64::from_bits(a.to_bits() | QUIET),
        (false, true) => f64::from_bits(b.to_bits() | QUIET),
        (false, false) => sum,
    }
}
