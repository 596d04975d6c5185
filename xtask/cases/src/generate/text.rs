//! Random strings.

use super::super::random::Random;
use tdb_reference::model::Bytes;

/// Generates a string for a dimension, sometimes empty or with zero bytes. Uses ASCII without the
/// last character. The library compares other bytes sometimes as signed and sometimes as unsigned,
/// and ends dimensions at the last ASCII character.
pub fn string(random: &mut Random) -> Bytes {
    let length = match random.below(10) {
        0 => 0,
        1..=5 => random.between(1, 3),
        6..=8 => random.between(1, 12),
        _ => random.between(1, 40),
    };
    let alphabet: &[u8] = match random.below(8) {
        0 => b"a",
        1 => b"a~b",
        2 => &[b'a', 0, b'b'],
        3 => b"0123456789",
        _ => b"abcdXYZ _-",
    };
    Bytes((0..length).map(|_| *random.pick(alphabet)).collect())
}

pub fn strings(random: &mut Random, count: usize) -> Vec<Bytes> {
    (0..count.max(1)).map(|_| string(random)).collect()
}
