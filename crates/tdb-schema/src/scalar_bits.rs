//! Integers whatever their type.

use tdb_types::Scalar;

/// The bits of a value as an unsigned integer.
pub(crate) fn unsigned_bits(value: Scalar) -> u64 {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(&*value.to_le_bytes()) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}
