//! Choices, the same on every machine for the same seed.

use tdb_testkit::hostile::SplitMix64;

/// A source of choices.
#[derive(Debug)]
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next()
    }

    /// A number in `0..bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// A number in `low..=high`.
    pub fn integer(&mut self, low: i128, high: i128) -> i128 {
        let span = (high - low + 1).cast_unsigned();
        low + (u128::from(self.bits()) % span).cast_signed()
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the choices.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        self.0.pick(choices)
    }

    /// An index, in proportion to the weights.
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

    /// A number in `low..=high`; small ones are likelier.
    pub fn small(&mut self, low: usize, high: usize) -> usize {
        let high = self.between(low, high);
        self.between(low, high)
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// Each item with a chance of so many in a hundred.
    pub fn subset<T: Clone>(&mut self, items: &[T], percent: usize) -> Vec<T> {
        items.iter().filter(|_| self.percent(percent)).cloned().collect()
    }
}
