//! Numbering of distinct strings.
//!
//! With a standard hash map, most of the encoding time goes into generic hashing and comparison
//! calls. This map treats a short string as a single number, which is hashed and compared without a
//! loop.

use std::hash::{BuildHasher, RandomState};

use crate::stage::strings::{Entry, SHORT};

/// A hash map from strings to indices, with open addressing.
#[derive(Debug)]
pub(super) struct Distinct<'a> {
    pub(super) entries: Vec<Entry<'a>>,
    /// The index of a string plus one, or 0 for an empty slot. The length is a power of two, and at
    /// most half of the slots are used.
    slots: Vec<u32>,
    /// Random, so that an attacker cannot construct colliding strings.
    seeds: [u64; 2],
}

/// Initial number of slots, for half as many strings.
const LEAST_SLOTS: usize = 512;

impl Default for Distinct<'_> {
    fn default() -> Self {
        let random = RandomState::new();
        let seeds = [random.hash_one(1), random.hash_one(2)];
        Self { entries: Vec::new(), slots: vec![0; LEAST_SLOTS], seeds }
    }
}

impl<'a> Distinct<'a> {
    /// Returns the index of a string, and adds the string if it is new.
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
        // The number of distinct strings fits in 32 bits, because a chunk has less than 4 GiB and
        // only one distinct string is empty.
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

/// Combines both halves of the product, so that each input bit affects about half of the output
/// bits.
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

    /// The indices according to a standard hash map.
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
        fn indices_match_those_of_a_standard_map(strings in prop::collection::vec(prop::collection::vec(0..3_u8, 0..20), 0..2000)) {
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
