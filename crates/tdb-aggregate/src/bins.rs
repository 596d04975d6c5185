//! Histograms.

use tdb_types::{Cells, PhysicalType, with_physical};

use crate::blocks::for_each_block;
use crate::kind::ValueKind;
use crate::number::Number;

/// A histogram: the counts of numbers in intervals of equal width. The last interval includes its
/// upper end.
#[derive(Clone, Debug, PartialEq)]
pub struct Bins {
    kind: ValueKind,
    physical: PhysicalType,
    low: f64,
    high: f64,
    counts: Vec<u64>,
    outside: u64,
}

impl Bins {
    /// Creates `count` intervals from `low` to `high`.
    ///
    /// Returns `None` if `count` is 0, if `low` exceeds `high`, if `high - low` is not finite, or
    /// if values of this kind are not numbers.
    #[must_use]
    pub fn new(kind: ValueKind, low: f64, high: f64, count: usize) -> Option<Self> {
        let physical = kind.number()?;
        let is_sound = (high - low).is_finite() && low <= high && count > 0;
        is_sound.then(|| Self { kind, physical, low, high, counts: vec![0; count], outside: 0 })
    }

    /// Returns an empty histogram with the same intervals.
    #[must_use]
    pub fn part(&self) -> Self {
        Self { counts: vec![0; self.counts.len()], outside: 0, ..*self }
    }

    /// Returns the lower end of the first and the upper end of the last interval.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Returns the count of each interval.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the count of numbers outside of all intervals: NaNs, infinities, and numbers out of
    /// range.
    #[must_use]
    pub fn outside(&self) -> u64 {
        self.outside
    }

    /// Adds the numbers of all cells, or of the cells with indices `picked`. Ignores nulls.
    pub fn add(&mut self, cells: &Cells<'_>, picked: Option<&[u32]>) {
        with_physical!(self.physical, N => {
            for_each_block::<N>(cells, picked, self.kind.null(), |block| self.add_numbers(block));
        });
    }

    fn add_numbers<N: Number>(&mut self, numbers: &[N]) {
        for number in numbers {
            match self.bin_of(number.to_f64()) {
                Some(bin) => self.counts[bin] = self.counts[bin].saturating_add(1),
                None => self.outside = self.outside.saturating_add(1),
            }
        }
    }

    /// Returns the index of the interval of a number, or `None` if the number is outside of all
    /// intervals.
    #[inline]
    fn bin_of(&self, number: f64) -> Option<usize> {
        if !(self.low..=self.high).contains(&number) {
            return None;
        }
        #[allow(clippy::cast_precision_loss)] // few intervals
        let scale = self.counts.len() as f64 / (self.high - self.low);
        // If `low` equals `high`, the scale is infinite. The product may be NaN. A NaN converts to
        // 0.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
        let bin = ((number - self.low) * scale) as usize;
        Some(bin.min(self.counts.len() - 1))
    }

    /// Adds `count` numbers between `least` and `greatest` (little-endian bytes) if both are in the
    /// same interval. Returns `true` if added.
    #[must_use]
    pub fn add_between(&mut self, least: &[u8], greatest: &[u8], count: u64) -> bool {
        let double = |bytes: &[u8]| with_physical!(self.physical, N => N::at(bytes, 0).to_f64());
        let bin = self.bin_of(double(least)).filter(|bin| self.bin_of(double(greatest)) == Some(*bin));
        if let Some(bin) = bin {
            self.counts[bin] = self.counts[bin].saturating_add(count);
        }
        bin.is_some()
    }

    /// Adds the counts of a histogram with the same intervals.
    pub fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, other)| *own = own.saturating_add(*other));
        self.outside = self.outside.saturating_add(other.outside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubles(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn bins(low: f64, high: f64, count: usize) -> Option<Bins> {
        Bins::new(ValueKind::Number(PhysicalType::F64), low, high, count)
    }

    #[test]
    fn ends_are_in_the_first_and_last_interval() {
        let mut found = bins(0.0, 10.0, 5).unwrap_or_else(|| panic!("bins"));
        let values = [0.0, 1.9, 2.0, 10.0, 9.0, 10.1, -0.1, f64::NAN, f64::INFINITY];
        found.add(&Cells::fixed(&doubles(&values), 8), None);
        assert_eq!((found.counts(), found.outside()), (&[2, 1, 0, 0, 2][..], 4));
        assert!(found.add_between(&2.5_f64.to_le_bytes(), &3.5_f64.to_le_bytes(), 7));
        assert!(!found.add_between(&2.5_f64.to_le_bytes(), &4.5_f64.to_le_bytes(), 7));
        assert!(!found.add_between(&f64::NAN.to_le_bytes(), &f64::NAN.to_le_bytes(), 7));
        assert_eq!(found.counts(), [2, 8, 0, 0, 2]);
    }

    #[test]
    fn all_equal() {
        let mut found = bins(3.0, 3.0, 4).unwrap_or_else(|| panic!("bins"));
        found.add(&Cells::fixed(&doubles(&[3.0, 3.0]), 8), Some(&[1]));
        assert_eq!(found.counts(), [1, 0, 0, 0]);
        assert!(bins(f64::MIN, f64::MAX, 4).is_none() && bins(1.0, 0.0, 4).is_none() && bins(0.0, 1.0, 0).is_none());
        assert!(Bins::new(ValueKind::Bytes, 0.0, 1.0, 4).is_none());
    }
}
