//! Order-preserving `u64` keys for coordinates of every fixed-size type.
//!
//! Ranges, R-trees, sorters and mergers compare keys instead of typed values. The difference of two
//! integer keys is the distance between the values. Floats follow the total order of IEEE 754,
//! which deviates from `<` in two ways: `-0.0` sorts before `0.0`, and NaNs sort beyond the
//! infinities. Code that accepts ranges from users must handle both.

use crate::{PhysicalType, ScalarBytes, with_physical};

/// Returns the key of a value in little-endian `bytes`. Missing bytes count as zero.
#[must_use]
pub fn ordered_key(physical: PhysicalType, bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    key_of_bits(physical, u64::from_le_bytes(word))
}

/// Returns the little-endian bytes of the value with this key.
#[must_use]
pub fn from_ordered_key(physical: PhysicalType, key: u64) -> ScalarBytes {
    let width = bits(physical);
    let bits = if physical.is_float() {
        if key & sign(width) != 0 { key ^ sign(width) } else { !key }
    } else if physical.is_signed_integer() {
        key ^ sign(width)
    } else {
        key
    };
    ScalarBytes::new(&bits.to_le_bytes()[..physical.size()])
}

/// Appends the keys of all values in `bytes` to `keys`. Ignores trailing bytes that do not fill a
/// value.
pub fn ordered_keys(physical: PhysicalType, bytes: &[u8], keys: &mut Vec<u64>) {
    fn extend<const N: usize>(bytes: &[u8], keys: &mut Vec<u64>, key: impl Fn([u8; N]) -> u64) {
        let (values, _) = bytes.as_chunks::<N>();
        keys.extend(values.iter().map(|value| key(*value)));
    }
    let float = |bits| key_of_bits(physical, bits);
    with_physical!(
        physical,
        T => extend(bytes, keys, |b| u64::from(T::from_le_bytes(b).abs_diff(T::MIN))),
        _ => match physical.size() {
            4 => extend(bytes, keys, |b| float(u64::from(u32::from_le_bytes(b)))),
            _ => extend(bytes, keys, |b| float(u64::from_le_bytes(b))),
        }
    );
}

const fn bits(physical: PhysicalType) -> u32 {
    match physical.size() {
        1 => 8,
        2 => 16,
        4 => 32,
        _ => 64,
    }
}

const fn sign(width: u32) -> u64 {
    1 << (width - 1)
}

const fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

#[inline]
const fn key_of_bits(physical: PhysicalType, bits_of_value: u64) -> u64 {
    let width = bits(physical);
    let value = bits_of_value & mask(width);
    if physical.is_float() {
        // Negative floats decrease with growing magnitude, so all bits are flipped. The sign bit
        // moves positive floats above the negative floats.
        if value & sign(width) != 0 { !value & mask(width) } else { value | sign(width) }
    } else if physical.is_signed_integer() {
        value ^ sign(width)
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Scalar;

    fn check(a: Scalar, b: Scalar) {
        assert_eq!(a.partial_cmp(&b), Some(a.key().cmp(&b.key())), "{a} {b}");
        for value in [a, b] {
            let back = Scalar::from_key(value.physical(), value.key());
            assert_eq!(back.to_le_bytes(), value.to_le_bytes());
            let mut keys = Vec::new();
            ordered_keys(value.physical(), &value.to_le_bytes(), &mut keys);
            assert_eq!(keys, [value.key()]);
        }
    }

    proptest! {
        #[test]
        fn integers(a: i64, b: i64) {
            check(Scalar::I64(a), Scalar::I64(b));
            check(Scalar::U64(a as u64), Scalar::U64(b as u64));
            check(Scalar::I32(a as i32), Scalar::I32(b as i32));
            check(Scalar::U32(a as u32), Scalar::U32(b as u32));
            check(Scalar::I16(a as i16), Scalar::I16(b as i16));
            check(Scalar::U16(a as u16), Scalar::U16(b as u16));
            check(Scalar::I8(a as i8), Scalar::I8(b as i8));
            check(Scalar::U8(a as u8), Scalar::U8(b as u8));
        }

        #[test]
        fn floats(a: f64, b: f64) {
            prop_assume!(!(a == b && a.to_bits() != b.to_bits()));
            check(Scalar::F64(a), Scalar::F64(b));
            let (a, b) = (a as f32, b as f32);
            prop_assume!(!(a == b && a.to_bits() != b.to_bits()));
            check(Scalar::F32(a), Scalar::F32(b));
        }

        #[test]
        fn distances(a: i32, d in 0..i32::MAX) {
            if let Some(b) = a.checked_add(d) {
                prop_assert_eq!(Scalar::I32(b).key() - Scalar::I32(a).key(), d as u64);
            }
        }
    }

    #[test]
    fn extremes() {
        check(Scalar::F64(f64::NEG_INFINITY), Scalar::F64(f64::INFINITY));
        check(Scalar::I64(i64::MIN), Scalar::I64(i64::MAX));
        assert!(Scalar::F32(-0.0).key() + 1 == Scalar::F32(0.0).key());
    }
}
