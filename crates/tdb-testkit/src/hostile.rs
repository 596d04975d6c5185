//! Deterministic corruption of valid bytes.
//!
//! A parser test corrupts valid bytes in each of these ways. The parser must return a value or an
//! error, without a panic and within the allocation bound of the test. Some corruptions are
//! harmless.
//!
//! ```
//! use tdb_testkit::hostile;
//!
//! fn parse(bytes: &[u8]) -> Result<u32, &'static str> {
//!     let (length, rest) = bytes.split_first_chunk().ok_or("no length")?;
//!     let length = u32::from_le_bytes(*length);
//!     (rest.len() as u64 == u64::from(length)).then_some(length).ok_or("wrong length")
//! }
//! let good = [3, 0, 0, 0, b'a', b'b', b'c'];
//! assert!(hostile::truncations(&good).all(|bytes| parse(bytes).is_err()));
//! hostile::single_byte_changes(&good, |bytes| drop(parse(bytes)));
//! hostile::seeded_mutations(1, &good, 1000, |bytes| drop(parse(bytes)));
//! ```

mod mutate;
mod rng;

pub use rng::SplitMix64;

use crate::case;

/// Returns all strict prefixes of `bytes`, starting with the empty prefix.
pub fn truncations(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    (0..bytes.len()).map(move |length| &bytes[..length])
}

/// Calls `body` with `bytes` changed in exactly one byte, for each position and each effective
/// change. The changes are `0x00`, `0xff`, plus 1, minus 1, the lowest bit flipped, the highest bit
/// flipped, `0x7f`, and `0x80`.
///
/// The slice is a single buffer, which is changed and restored in place.
pub fn single_byte_changes(bytes: &[u8], mut body: impl FnMut(&[u8])) {
    let mut changed = bytes.to_vec();
    for (place, &byte) in bytes.iter().enumerate() {
        let mut tried = [byte; 9];
        let values = [0x00, 0xff, byte.wrapping_add(1), byte.wrapping_sub(1), byte ^ 0x01, byte ^ 0x80, 0x7f, 0x80];
        for (index, value) in values.into_iter().enumerate() {
            if tried.contains(&value) {
                continue;
            }
            tried[index] = value;
            changed[place] = value;
            let describe = || format!("byte {place:#x} changed from {byte:#04x} to {value:#04x}");
            case::run(describe, || body(&changed));
        }
        changed[place] = byte;
    }
}

/// Damages `bytes` by up to 16 edits, given by the input of a fuzz target. An edit has five bytes:
/// the end from which the position is counted, the position (two bytes), the action, and a value.
pub fn edit(bytes: &mut Vec<u8>, edits: &[u8]) {
    for &[end, low, high, action, value] in edits.as_chunks().0.iter().take(16) {
        let place = usize::from(u16::from_le_bytes([low, high]));
        let place = if end & 1 == 0 { place } else { bytes.len().saturating_sub(1 + place) };
        if place >= bytes.len() {
            continue;
        }
        match action % 5 {
            0 => bytes[place] = value,
            1 => bytes[place] ^= 1 << (value % 8),
            2 => bytes.truncate(place),
            3 => bytes.insert(place, value),
            _ => {
                let number = 1u64.rotate_left(u32::from(value % 64)).wrapping_sub(u64::from(value >> 7));
                bytes[place..].iter_mut().zip(number.to_le_bytes()).for_each(|(to, from)| *to = from);
            }
        }
    }
}

/// Calls `body` with `count` corrupted versions of `bytes`. Each version has one to eight random
/// edits. An edit overwrites a byte or an integer (often with a boundary value), flips a bit,
/// inserts, removes or copies a run, or truncates the end.
///
/// Equal seeds and bytes give equal cases on every machine. The slice is a single reused buffer.
pub fn seeded_mutations(seed: u64, bytes: &[u8], count: usize, mut body: impl FnMut(&[u8])) {
    let mut damaged = Vec::with_capacity(bytes.len() * 2 + 64);
    for index in 0..count {
        // Each case has a separate generator and can be repeated alone.
        let mut rng = SplitMix64::new(seed ^ (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        damaged.clear();
        damaged.extend_from_slice(bytes);
        for _ in 0..=rng.below(8) {
            mutate::edit(&mut damaged, &mut rng);
        }
        case::run(|| format!("mutation {index} of seed {seed}"), || body(&damaged));
    }
}

#[cfg(test)]
mod tests {
    use super::{seeded_mutations, single_byte_changes, truncations};
    use std::collections::HashSet;

    #[test]
    fn truncations_are_the_strict_prefixes() {
        let prefixes: Vec<_> = truncations(b"abc").collect();
        assert_eq!(prefixes, [&b""[..], b"a", b"ab"]);
    }

    #[test]
    fn each_single_change_differs_in_one_byte_and_comes_once() {
        let good = [0x00, 0x7f, 0x80, 0xff, 0x10];
        let mut seen = HashSet::new();
        single_byte_changes(&good, |bytes| {
            let differing = bytes.iter().zip(&good).filter(|(a, b)| a != b).count();
            assert_eq!((bytes.len(), differing), (good.len(), 1));
            assert!(seen.insert(bytes.to_vec()), "twice: {bytes:?}");
        });
        assert!(seen.len() >= 4 * good.len(), "only {} changes were made", seen.len());
    }

    #[test]
    fn mutations_repeat_and_vary() {
        let good: Vec<u8> = (0..100).collect();
        let collect = |seed| {
            let mut all = Vec::new();
            seeded_mutations(seed, &good, 500, |bytes| all.push(bytes.to_vec()));
            all
        };
        let first = collect(7);
        assert_eq!(first, collect(7));
        assert_ne!(first, collect(8));
        let distinct: HashSet<_> = first.iter().collect();
        assert!(distinct.len() > 450, "only {} distinct cases", distinct.len());
        assert!(first.iter().any(|bytes| bytes.len() < good.len()));
        assert!(first.iter().any(|bytes| bytes.len() > good.len()));
    }

    #[test]
    fn empty_bytes_can_be_mutated() {
        let mut longest = 0;
        seeded_mutations(3, b"", 100, |bytes| longest = longest.max(bytes.len()));
        assert!(longest > 0);
    }
}
