//! Bits of integers of any type.

use tdb_types::Scalar;

/// Returns the bits of a value, zero-extended to 64 bits.
pub(crate) fn unsigned_bits(value: Scalar) -> u64 {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(&*value.to_le_bytes()) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}
