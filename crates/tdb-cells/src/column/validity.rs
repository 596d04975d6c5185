//! Validity bits.

use tdb_types::Buffer;

/// Packs validity bytes, 0 for null, into bits, least significant first. Resizes `bits` to one byte
/// per eight cells, rounded up.
pub fn pack_validity(bytes: &[u8], bits: &mut Buffer) {
    bits.resize(bytes.len().div_ceil(8));
    let (words, rest) = bytes.as_chunks::<8>();
    for (bit, word) in bits.iter_mut().zip(words) {
        // Replaces each nonzero byte by 1. The multiplication then gathers the ones in the highest
        // byte.
        let word = u64::from_le_bytes(*word);
        let ones = ((((word & 0x7f7f_7f7f_7f7f_7f7f) + 0x7f7f_7f7f_7f7f_7f7f) | word) >> 7) & 0x0101_0101_0101_0101;
        *bit = (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    }
    if !rest.is_empty() {
        let last = rest.iter().enumerate().fold(0, |bits, (bit, &byte)| bits | u8::from(byte != 0) << bit);
        if let Some(bit) = bits.last_mut() {
            *bit = last;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packs_like_one_by_one(bytes in prop::collection::vec(prop_oneof![Just(0u8), Just(1), any::<u8>()], 0..100)) {
            let mut bits = Buffer::from(&[0xff; 200][..]);
            pack_validity(&bytes, &mut bits);
            prop_assert_eq!(bits.len(), bytes.len().div_ceil(8));
            for (cell, byte) in bytes.iter().enumerate() {
                prop_assert_eq!(bits[cell / 8] >> (cell % 8) & 1 == 1, *byte != 0);
            }
            for cell in bytes.len()..bits.len() * 8 {
                prop_assert_eq!(bits[cell / 8] >> (cell % 8) & 1, 0);
            }
        }
    }
}
