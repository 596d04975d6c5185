//! String views for columns with few distinct strings. Each distinct string is checked and
//! converted once.

use arrow_array::{Array, StringViewArray, UInt32Array};
use arrow_buffer::NullBuffer;
use arrow_select::take::take;

/// Minimum number of cells. The table costs more than it saves for fewer cells.
const LEAST_CELLS: usize = 512;
/// Maximum number of distinct strings.
const MOST: usize = 256;
/// Number of distinct strings that is allowed from the start. Grows by one per `CELLS_PER_STRING`
/// cells.
const AT_START: usize = 64;
const CELLS_PER_STRING: usize = 2;
/// Number of slots of the hash table. Most of them stay empty.
const SLOTS: usize = 1024;
/// Maximum probes per string. Bounds the cost of strings chosen to collide.
const MOST_PROBES: usize = 16;
/// Maximum length of a string in bytes. String and length fit into 128 bits.
const LONGEST: usize = 15;

/// Converts the cells between these offsets. Returns `None` if there are many distinct strings or a
/// long string, if a string is not UTF-8, or if an offset is outside of the values.
pub(super) fn views(offsets: &[u64], values: &[u8], nulls: Option<&NullBuffer>) -> Option<StringViewArray> {
    let (numbers, strings) = numbers(offsets, values)?;
    let strings = strings.into_iter().map(std::str::from_utf8).collect::<Result<Vec<_>, _>>().ok()?;
    let strings = StringViewArray::from_iter_values(strings);
    let numbers = UInt32Array::try_new(numbers.into(), nulls.cloned()).ok()?;
    take(&strings, &numbers, None).ok()?.as_any().downcast_ref().cloned()
}

/// Returns the index of each cell's string among the distinct strings, and the distinct strings.
/// Returns `None` if there are too few cells, too many distinct strings, a long string, or an
/// offset outside of the values.
fn numbers<'v>(offsets: &[u64], values: &'v [u8]) -> Option<(Vec<u32>, Vec<&'v [u8]>)> {
    let (first, ends) = offsets.split_first()?;
    if ends.len() < LEAST_CELLS {
        return None;
    }
    let mut table = Table { keys: [Key::NONE; SLOTS], numbers: [0; SLOTS], strings: Vec::with_capacity(MOST) };
    let mut numbers = vec![0; ends.len()];
    let mut start = usize::try_from(*first).ok()?;
    for (cell, (end, to)) in ends.iter().zip(&mut numbers).enumerate() {
        // A negative length wraps around, and is therefore too long.
        let len = usize::try_from(*end).ok()?.wrapping_sub(start);
        if len > LONGEST {
            return None;
        }
        let bytes = values.get(start..)?;
        let key = match bytes.first_chunk() {
            Some(head) => Key::new(*head, len),
            None => Key::at_end(bytes.get(..len)?),
        };
        *to = match table.find(key) {
            Ok(number) => number,
            Err(slot) => table.add(slot, key, bytes.get(..len)?, cell)?,
        };
        start += len;
    }
    Some((numbers, table.strings))
}

/// A string as a hash key: its bytes padded with zeros, and its length.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    low: u64,
    high: u64,
}

impl Key {
    /// Marks an empty slot. No string has this length.
    const NONE: Self = Self { low: u64::MAX, high: u64::MAX };

    /// The bits that the bytes of a string occupy, by length.
    const MASKS: [Self; LONGEST + 1] = {
        let mut masks = [Self { low: 0, high: 0 }; LONGEST + 1];
        let mut len = 0;
        while len <= LONGEST {
            let mask = (1_u128 << (8 * len)) - 1;
            masks[len] = Self { low: mask as u64, high: (mask >> 64) as u64 };
            len += 1;
        }
        masks
    };

    /// Creates the key of the first `len` bytes.
    #[inline(always)]
    fn new(bytes: [u8; 16], len: usize) -> Self {
        let bytes = u128::from_le_bytes(bytes);
        let mask = Self::MASKS[len & LONGEST];
        Self { low: bytes as u64 & mask.low, high: ((bytes >> 64) as u64 & mask.high) | (len as u64) << 56 }
    }

    /// Creates the key of a string with fewer than 16 bytes up to the end of the values.
    #[cold]
    fn at_end(string: &[u8]) -> Self {
        let mut bytes = [0; 16];
        bytes[..string.len()].copy_from_slice(string);
        Self::new(bytes, string.len())
    }

    #[inline(always)]
    fn slot(self) -> usize {
        let mixed = (self.low ^ self.high.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (64 - SLOTS.ilog2())) as usize
    }
}

/// The distinct strings found so far.
struct Table<'v> {
    /// Open addressing with linear probing.
    keys: [Key; SLOTS],
    numbers: [u8; SLOTS],
    strings: Vec<&'v [u8]>,
}

impl<'v> Table<'v> {
    /// Returns the index of a string, or the slot to insert it at.
    #[inline(always)]
    fn find(&self, key: Key) -> Result<u32, usize> {
        let mut slot = key.slot();
        loop {
            let found = self.keys[slot];
            if (found.low ^ key.low) | (found.high ^ key.high) == 0 {
                return Ok(self.numbers[slot].into());
            }
            if found == Key::NONE {
                return Err(slot);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    #[inline(never)]
    fn add(&mut self, slot: usize, key: Key, string: &'v [u8], cell: usize) -> Option<u32> {
        let number = self.strings.len();
        let probes = slot.wrapping_sub(key.slot()) % SLOTS;
        if number >= MOST.min(AT_START + cell / CELLS_PER_STRING) || probes > MOST_PROBES {
            return None;
        }
        self.strings.push(string);
        (self.keys[slot], self.numbers[slot]) = (key, u8::try_from(number).ok()?);
        Some(number as u32)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use arrow_array::StringViewArray;
    use arrow_buffer::NullBuffer;
    use proptest::prelude::*;

    use super::{LEAST_CELLS, LONGEST, MOST, views};

    fn cells<T: AsRef<[u8]>>(strings: &[T]) -> (Vec<u64>, Vec<u8>) {
        let (mut offsets, mut values) = (vec![0], Vec::new());
        for string in strings {
            values.extend_from_slice(string.as_ref());
            offsets.push(values.len() as u64);
        }
        (offsets, values)
    }

    /// Converts each cell separately, as the expected result.
    fn plain(strings: &[String], nulls: Option<&NullBuffer>) -> StringViewArray {
        let is_valid = |cell| nulls.is_none_or(|nulls| nulls.is_valid(cell));
        strings.iter().enumerate().map(|(cell, string)| is_valid(cell).then_some(string.as_str())).collect()
    }

    proptest! {
        #[test]
        fn views_equal_cell_by_cell_conversion(
            kinds in prop::collection::vec("[\\x00ab\u{e9}]{0,7}", 1..60),
            picks in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), LEAST_CELLS..2 * LEAST_CELLS),
            has_nulls in any::<bool>(),
        ) {
            let strings: Vec<String> = picks.iter().map(|(pick, _)| pick.get(&kinds).clone()).collect();
            let nulls = has_nulls.then(|| NullBuffer::from_iter(picks.iter().map(|(_, is_valid)| *is_valid)));
            let (offsets, values) = cells(&strings);
            prop_assert_eq!(views(&offsets, &values, nulls.as_ref()), Some(plain(&strings, nulls.as_ref())));
            // Offsets from the second cell on.
            let part = views(&offsets[1..], &values, None);
            prop_assert_eq!(part, (picks.len() > LEAST_CELLS).then(|| plain(&strings[1..], None)));
        }
    }

    #[test]
    fn views_reject_many_long_or_invalid_strings() {
        let of = |string: &dyn Fn(usize) -> String| -> Vec<String> { (0..4 * LEAST_CELLS).map(string).collect() };
        let found = |strings: &[String]| {
            let (offsets, values) = cells(strings);
            views(&offsets, &values, None)
        };
        // Fewer distinct strings are allowed in the first cells.
        assert_eq!(found(&of(&|cell| (cell % MOST).to_string())), None);
        let most = of(&|cell| (cell / 4 % MOST).to_string());
        assert_eq!(found(&most), Some(plain(&most, None)));
        assert_eq!(found(&of(&|cell| (cell / 4 % (MOST + 1)).to_string())), None);
        assert_eq!(found(&of(&|cell| cell.to_string())), None);
        let longest = of(&|_| "x".repeat(LONGEST));
        assert_eq!(found(&longest), Some(plain(&longest, None)));
        assert_eq!(found(&of(&|_| "x".repeat(LONGEST + 1))), None);
    }

    #[test]
    fn strings_of_zero_bytes_differ_by_length() {
        let strings: Vec<String> = (0..LEAST_CELLS).map(|cell| "\0".repeat(cell % (LONGEST + 1))).collect();
        let (offsets, values) = cells(&strings);
        assert_eq!(views(&offsets, &values, None), Some(plain(&strings, None)));
    }

    #[test]
    fn invalid_utf_8_and_offsets_yield_none() {
        let (mut offsets, mut values) = cells(&vec!["ab"; LEAST_CELLS]);
        assert!(views(&offsets, &values, None).is_some());
        // The two bytes of one letter, split between two cells.
        values[1..3].copy_from_slice("\u{e9}".as_bytes());
        assert_eq!(views(&offsets, &values, None), None);
        let (_, values) = cells(&vec!["ab"; LEAST_CELLS]);
        assert_eq!(views(&offsets, &values[1..], None), None);
        offsets[5] = 3;
        assert_eq!(views(&offsets, &values, None), None);
    }
}
