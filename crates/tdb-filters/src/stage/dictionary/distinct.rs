//! The distinct ones among strings, numbered as they come.
//!
//! The map of the standard library takes most of an encoder's time: it hashes for keys of all kinds, and compares by a call. Here
//! a short string is one number, which is hashed and compared without a loop.

use std::hash::{BuildHasher, RandomState};

use crate::stage::strings::{Entry, SHORT};

/// Numbers by the strings' hashes, with open addressing.
#[derive(Debug)]
pub(super) struct Distinct<'a> {
    entries: Vec<Entry<'a>>,
    /// The number of a string and one, or 0; a power of two of them, of which at most half are taken.
    slots: Vec<u32>,
    /// Not known before, so that nobody can choose strings that all have the same hash.
    seeds: [u64; 2],
}

/// Room for half as many strings.
const LEAST_SLOTS: usize = 512;

impl Default for Distinct<'_> {
    fn default() -> Self {
        let random = RandomState::new();
        let seeds = [random.hash_one(1), random.hash_one(2)];
        Self { entries: Vec::new(), slots: vec![0; LEAST_SLOTS], seeds }
    }
}

impl<'a> Distinct<'a> {
    /// The number of a string, which is new if no other equals it.
    #[inline]
    pub(super) fn number(&mut self, string: Entry<'a>) -> usize {
        let mut slot = self.hash(&string) as usize;
        loop {
            slot &= self.slots.len() - 1;
            match (self.slots[slot] as usize).checked_sub(1) {
                Some(number) if self.entries[number] == string => return number,
                Some(_) => slot += 1,
                None => return self.insert(slot, string),
            }
        }
    }

    /// The strings in the order of their numbers.
    pub(super) fn into_entries(self) -> Vec<Entry<'a>> {
        self.entries
    }

    #[inline(always)]
    fn hash(&self, string: &Entry<'_>) -> u64 {
        let [low, high] = [string.head as u64, (string.head >> 64) as u64];
        let mut hash = mix(low ^ self.seeds[0] ^ string.len() as u64, high ^ self.seeds[1]);
        if string.len() > SHORT {
            for bytes in string.string[SHORT..].chunks(8) {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                hash = mix(hash ^ self.seeds[0], u64::from_le_bytes(word) ^ self.seeds[1]);
            }
        }
        hash
    }

    #[cold]
    fn insert(&mut self, slot: usize, string: Entry<'a>) -> usize {
        let number = self.entries.len();
        self.entries.push(string);
        // A tile has fewer strings than 32 bits can count: their bytes are, and of empty ones there is but one.
        let slot_of = |number: usize| u32::try_from(number + 1).unwrap_or(u32::MAX);
        self.slots[slot] = slot_of(number);
        if 2 * self.entries.len() > self.slots.len() {
            let mut slots = vec![0; 4 * self.slots.len()];
            let last = slots.len() - 1;
            for (number, entry) in self.entries.iter().enumerate() {
                let mut slot = self.hash(entry) as usize & last;
                while slots[slot] != 0 {
                    slot = (slot + 1) & last;
                }
                slots[slot] = slot_of(number);
            }
            self.slots = slots;
        }
        number
    }
}

/// Both halves of the product of two numbers: every bit of either changes about half of them.
#[inline(always)]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    /// The numbers as a map of the standard library gives them.
    fn plain<'a>(strings: &[&'a [u8]]) -> Vec<usize> {
        let mut numbers: HashMap<&'a [u8], usize> = HashMap::new();
        let number = |string: &&'a [u8]| {
            let next = numbers.len();
            *numbers.entry(string).or_insert(next)
        };
        strings.iter().map(number).collect()
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_a_plain_map(strings in prop::collection::vec(prop::collection::vec(0..3_u8, 0..20), 0..2000)) {
            let strings: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
            let mut distinct = Distinct::default();
            let numbers: Vec<usize> = strings
                .iter()
                .filter_map(|string| Entry::at_start(string, string.len()))
                .map(|entry| distinct.number(entry))
                .collect();
            prop_assert_eq!(numbers, plain(&strings));
        }
    }
}
