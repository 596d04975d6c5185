//! Sort keys of a fixed width.

use std::fmt::Debug;

use crate::spare::Pool;

/// An unsigned integer with the packed position of a cell in an order.
pub trait Key: Copy + Ord + Default + Debug + Send + Sync + 'static {
    /// The width in bits.
    const BITS: u32;
    /// The highest key. The lowest key is the default.
    const HIGHEST: Self;
    /// The entry of a cell with a key of this type.
    type Entry: Entry<Key = Self>;

    /// Returns the memory pool for keys of this type.
    fn pool(pools: &KeyPools) -> &Pool<Vec<Self>>;

    /// Shifts the key left by `bits` bits, and sets the low bits to `value`. `value` must fit into
    /// `bits` bits.
    fn append(self, bits: u32, value: u64) -> Self;

    /// Sets the lowest `bits` bits to 0.
    fn clear_low(self, bits: u32) -> Self;

    /// Sets the lowest `bits` bits to 1.
    fn fill_low(self, bits: u32) -> Self;

    /// Returns the number of bits of the distance from `low` to this key.
    fn bits_above(self, low: Self) -> u32;

    /// Returns the distance from `low` divided by `2^shift`. The result must fit into `usize`.
    fn bucket(self, low: Self, shift: u32) -> usize;

    /// Returns the next higher key, or `None` for the highest key.
    fn next(self) -> Option<Self>;

    /// Returns the key halfway to `high`, rounded down.
    fn halfway(self, high: Self) -> Self;

    /// Returns the approximate number of keys in `self..=high`.
    fn span(self, high: Self) -> f64;

    /// Returns the key that is `distance` above this key, or the highest key.
    fn up(self, distance: f64) -> Self;
}

/// Pools of reusable memory for keys.
#[derive(Debug, Default)]
pub struct KeyPools {
    /// For keys of a single word.
    pub narrow: Pool<Vec<u64>>,
    wide: Pool<Vec<u128>>,
}

impl KeyPools {
    /// Creates pools for up to `most` bytes each.
    pub fn of(most: usize) -> Self {
        Self { narrow: Pool::of(most), wide: Pool::of(most) }
    }
}

macro_rules! key {
    ($type:ty, $entry:ty, $pool:ident) => {
        impl Key for $type {
            const BITS: u32 = <$type>::BITS;
            const HIGHEST: Self = <$type>::MAX;
            type Entry = $entry;

            fn pool(pools: &KeyPools) -> &Pool<Vec<Self>> {
                &pools.$pool
            }

            #[inline]
            fn append(self, bits: u32, value: u64) -> Self {
                let value = <$type>::from(value);
                if bits >= Self::BITS { value } else { self << bits | value }
            }

            fn clear_low(self, bits: u32) -> Self {
                if bits >= Self::BITS { 0 } else { self >> bits << bits }
            }

            fn fill_low(self, bits: u32) -> Self {
                if bits >= Self::BITS { Self::MAX } else { self | ((1 << bits) - 1) }
            }

            fn bits_above(self, low: Self) -> u32 {
                Self::BITS - self.saturating_sub(low).leading_zeros()
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation)] // the result must fit, see the trait
            fn bucket(self, low: Self, shift: u32) -> usize {
                (self.saturating_sub(low) >> shift) as usize
            }

            fn next(self) -> Option<Self> {
                self.checked_add(1)
            }

            fn halfway(self, high: Self) -> Self {
                self + (high.saturating_sub(self)) / 2
            }

            #[allow(clippy::cast_precision_loss)] // an estimate
            fn span(self, high: Self) -> f64 {
                high.saturating_sub(self) as f64 + 1.0
            }

            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
            fn up(self, distance: f64) -> Self {
                self.saturating_add(distance as Self)
            }
        }
    };
}

key!(u64, [u64; 2], narrow);
key!(u128, [u64; 3], wide);

/// A cell for sorting: the words of the key, and a word with the slot of the tile and the index in
/// the tile.
pub trait Entry: bytemuck::Pod + Ord + Default + Send + Sync + std::fmt::Debug {
    /// The sort key.
    type Key: Key;

    /// Creates the entry of a cell from the key, the slot of the tile, and the index in the tile.
    fn new(key: Self::Key, slot: u32, cell: u32) -> Self;

    /// Returns the key.
    fn key(&self) -> Self::Key;

    /// Returns the slot of the tile and the index in the tile.
    fn place(&self) -> (u32, u32);
}

fn place_word(slot: u32, cell: u32) -> u64 {
    u64::from(slot) << 32 | u64::from(cell)
}

#[allow(clippy::cast_possible_truncation)] // the lower half
fn place_of(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

impl Entry for [u64; 2] {
    type Key = u64;

    #[inline]
    fn new(key: u64, slot: u32, cell: u32) -> Self {
        [key, place_word(slot, cell)]
    }

    #[inline]
    fn key(&self) -> u64 {
        self[0]
    }

    #[inline]
    fn place(&self) -> (u32, u32) {
        place_of(self[1])
    }
}

impl Entry for [u64; 3] {
    type Key = u128;

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // the lower half
    fn new(key: u128, slot: u32, cell: u32) -> Self {
        [(key >> 64) as u64, key as u64, place_word(slot, cell)]
    }

    #[inline]
    fn key(&self) -> u128 {
        u128::from(self[0]) << 64 | u128::from(self[1])
    }

    #[inline]
    fn place(&self) -> (u32, u32) {
        place_of(self[2])
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn appends_from_the_top() {
        assert_eq!(0u64.append(8, 3).append(4, 1), 0x31);
        assert_eq!(0u64.append(64, u64::MAX), u64::MAX);
        assert_eq!(0u128.append(64, u64::MAX).append(64, 1), u128::from(u64::MAX) << 64 | 1);
    }

    #[test]
    fn clears_and_fills_up_to_everything() {
        assert_eq!(0x1ff_u64.clear_low(4), 0x1f0);
        assert_eq!(u64::MAX.clear_low(64), 0);
        assert_eq!(5_u128.clear_low(0), 5);
        assert_eq!(0x100_u64.fill_low(4), 0x10f);
        assert_eq!(7_u128.fill_low(128), u128::MAX);
        assert_eq!(5_u64.fill_low(0), 5);
    }

    #[test]
    fn distances_saturate() {
        assert_eq!(5u64.up(1e30), u64::MAX);
        assert_eq!(5u64.up(-3.0), 5);
        assert_eq!(u64::MAX.next(), None);
        assert_eq!(2u64.halfway(5), 3);
        assert_eq!(0u128.halfway(u128::MAX), u128::MAX / 2);
    }
}
