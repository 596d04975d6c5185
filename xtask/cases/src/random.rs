//! Reproducible random choices: a seed yields the same choices on every machine.

use tdb_testkit::hostile::SplitMix64;

/// A generator of random choices.
#[derive(Debug)]
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next()
    }

    /// Returns a number in `0..bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// Returns a number in `low..=high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// Returns a number in `low..=high`.
    pub fn integer(&mut self, low: i128, high: i128) -> i128 {
        let span = (high - low + 1).cast_unsigned();
        low + (u128::from(self.bits()) % span).cast_signed()
    }

    /// Returns `true` with a probability of `percent` %.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one of the choices.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        self.0.pick(choices)
    }

    /// Returns an index, with a probability in proportion to its weight.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut place = self.below(weights.iter().sum());
        for (index, weight) in weights.iter().enumerate() {
            if place < *weight {
                return index;
            }
            place -= weight;
        }
        unreachable!("the place is below the sum of the weights")
    }

    /// Returns a number in `low..=high`. Small numbers are more likely.
    pub fn small(&mut self, low: usize, high: usize) -> usize {
        let high = self.between(low, high);
        self.between(low, high)
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// Returns a subset that contains each item with a probability of `percent` %.
    pub fn subset<T: Clone>(&mut self, items: &[T], percent: usize) -> Vec<T> {
        items.iter().filter(|_| self.percent(percent)).cloned().collect()
    }
}
