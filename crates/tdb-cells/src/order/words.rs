//! Sorting of cells with short keys: key and position fit into a word.

use std::cmp::Ordering;

/// The maximum number of key bits. Sorting wider keys by counting takes too many rounds.
const MOST_KEY_BITS: u32 = 32;
/// The maximum number of key bits per sorting round.
const MOST_ROUND_BITS: u32 = 11;
/// Below this number of words, a comparison sort is faster than counting.
const FEW: usize = 1 << 10;

/// The layout of a word: the key in the highest bits, then the slot, then the cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    key_bits: u32,
    slot_bits: u32,
    cell_bits: u32,
}

impl Places {
    /// Creates a layout for keys of `key_bits`, a number of slots, and cell indices below `cells`.
    /// Returns `None` if the key has more than 32 bits, or a word is too small.
    pub fn new(key_bits: u32, slots: usize, cells: usize) -> Option<Self> {
        let bits_for = |count: usize| usize::BITS - count.saturating_sub(1).leading_zeros();
        let (slot_bits, cell_bits) = (bits_for(slots), bits_for(cells));
        let fits = key_bits <= MOST_KEY_BITS && key_bits + slot_bits + cell_bits <= u64::BITS;
        fits.then_some(Self { key_bits, slot_bits, cell_bits })
    }

    /// Returns the slot and the cell of a word.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // no wider than the original values
    fn of(self, word: u64) -> (usize, usize) {
        let low = |word: u64, bits: u32| word & ((1 << bits) - 1);
        (low(word >> self.cell_bits, self.slot_bits) as usize, low(word, self.cell_bits) as usize)
    }

    /// Returns the key of a word.
    #[inline]
    fn key(self, word: u64) -> u64 {
        word.checked_shr(self.slot_bits + self.cell_bits).unwrap_or(0)
    }
}

/// Cells, each packed into a word.
#[derive(Debug, Default)]
pub struct Words {
    words: Vec<u64>,
    spare: Vec<u64>,
    places: Places,
}

impl Words {
    /// Removes all cells and keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// Reserves room for more cells.
    pub fn reserve(&mut self, words: usize) {
        self.words.reserve(words);
    }

    /// Appends consecutive cells of a slot, numbered from `first`.
    pub fn extend(&mut self, places: Places, slot: usize, first: usize, keys: impl Iterator<Item = u64>) {
        let Places { slot_bits, cell_bits, .. } = places;
        let words = keys.zip(first as u64..).map(|(key, cell)| (key << slot_bits | slot as u64) << cell_bits | cell);
        self.words.extend(words);
    }

    /// Sorts cells of this layout by key, and equal keys by `compare_equal` on slots and cells.
    pub fn sort(&mut self, places: Places, compare_equal: impl Fn((usize, usize), (usize, usize)) -> Ordering) {
        self.places = places;
        if self.words.len() < FEW {
            self.words.sort_unstable();
        } else {
            self.sort_by_counting();
        }
        let mut rest = &mut self.words[..];
        while let Some((first, after)) = rest.split_first() {
            let key = places.key(*first);
            let equal = 1 + after.iter().take_while(|word| places.key(**word) == key).count();
            let (same, after) = std::mem::take(&mut rest).split_at_mut(equal);
            if equal > 1 {
                same.sort_unstable_by(|a, b| compare_equal(places.of(*a), places.of(*b)).then_with(|| a.cmp(b)));
            }
            rest = after;
        }
    }

    /// Sorts by key only, from the lowest bits to the highest.
    #[allow(clippy::cast_possible_truncation)] // masked to a few bits
    fn sort_by_counting(&mut self) {
        let Places { key_bits, slot_bits, cell_bits } = self.places;
        let rounds = key_bits.div_ceil(MOST_ROUND_BITS);
        if rounds == 0 {
            return;
        }
        let bits = key_bits.div_ceil(rounds);
        let mask = (1 << bits) - 1;
        self.spare.resize(self.words.len(), 0);
        for round in 0..rounds {
            let shift = slot_bits + cell_bits + round * bits;
            let digit = |word: u64| (word >> shift) as usize & mask;
            let mut starts = vec![0_usize; 1 << bits];
            self.words.iter().for_each(|word| starts[digit(*word)] += 1);
            let mut sum = 0;
            for start in &mut starts {
                sum += std::mem::replace(start, sum);
            }
            for word in &self.words {
                let start = &mut starts[digit(*word)];
                self.spare[*start] = *word;
                *start += 1;
            }
            std::mem::swap(&mut self.words, &mut self.spare);
        }
        // The next sort may have another length.
        self.spare.clear();
    }

    /// Calls `take` with the slot and the index of each cell, and `true` if the key differs from
    /// the key of the previous cell.
    pub fn for_each(&self, mut take: impl FnMut(usize, usize, bool)) {
        let mut before = self.words.first().map_or(0, |word| self.places.key(*word));
        for word in &self.words {
            let ((slot, cell), key) = (self.places.of(*word), self.places.key(*word));
            take(slot, cell, key != before);
            before = key;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Orders equal keys by slot, newest first, then by cell.
        #[test]
        fn sorts_as_the_standard_library(
            runs in prop::collection::vec(prop::collection::vec(any::<u32>(), 0..900), 1..6),
            shift in 0..32_u32,
        ) {
            let places = Places::new(u32::BITS - shift, runs.len(), 900).expect("they fit");
            let mut words = Words::default();
            let mut expected = Vec::new();
            for (slot, keys) in runs.iter().enumerate() {
                let keys = keys.iter().map(|key| u64::from(key >> shift));
                expected.extend(keys.clone().zip(0..).map(|(key, cell): (u64, usize)| (key, runs.len() - slot, cell)));
                words.extend(places, slot, 0, keys);
            }
            expected.sort_unstable();
            words.sort(places, |a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            let (mut found, mut before) = (Vec::new(), None);
            words.for_each(|slot, cell, has_other_key| found.push((slot, cell, has_other_key)));
            let expected = expected.into_iter().map(|(key, slot, cell)| {
                let is_other = before.replace(key).is_some_and(|before| before != key);
                (runs.len() - slot, cell, is_other)
            });
            prop_assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn layouts_have_at_most_64_bits() {
        assert_eq!(Places::new(33, 1, 1), None);
        assert_eq!(Places::new(32, 1 << 17, (1 << 16) + 1), None);
        let all = Places::new(32, 1 << 16, 1 << 16).expect("64 bits");
        let mut words = Words::default();
        words.extend(all, 65535, 65534, [u64::from(u32::MAX), 0].into_iter());
        words.sort(all, |_, _| Ordering::Equal);
        let mut found = Vec::new();
        words.for_each(|slot, cell, has_other_key| found.push((slot, cell, has_other_key)));
        assert_eq!(found, [(65535, 65535, false), (65535, 65534, true)]);
        // No bits distinguish the cells.
        let nothing = Places::new(0, 1, 1).expect("no bits");
        words.clear();
        words.extend(nothing, 0, 0, std::iter::once(0));
        words.sort(nothing, |_, _| Ordering::Equal);
        words.for_each(|slot, cell, has_other_key| assert_eq!((slot, cell, has_other_key), (0, 0, false)));
    }
}
