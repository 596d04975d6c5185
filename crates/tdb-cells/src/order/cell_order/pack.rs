//! Packing of compared values into integers.

use std::ops::Bound;

use tdb_rtree::DimRange;
use tdb_schema::Tiling;

use crate::order::key::Key;

/// A compared value of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// A leading word of the global order.
    Word(usize),
    /// The distance of the coordinate from the low end of the space tile.
    Offset { dimension: usize, low: u64, extent: u64, tiling: Tiling },
    /// The coordinate of a fixed-size type.
    Coordinate(usize),
    /// Up to eight bytes of a string, after `skip` bytes.
    Text { dimension: usize, skip: usize },
    /// Distinguishes the two floating-point zeros, equal in order but different as coordinates.
    ZeroSign { dimension: usize, positive: u64 },
}

/// The position of a part in the key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    pub(super) part: Part,
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) bits: u32,
    /// The number of low bits that have no room in the key.
    pub(super) dropped: u32,
}

impl Packed {
    /// Appends the part to each key.
    #[inline]
    pub(super) fn append<K: Key>(&self, keys: &mut [K], values: impl Iterator<Item = u64>) {
        // Coordinates are outside of the bounds only in damaged files.
        let Self { min, max, bits, dropped, .. } = *self;
        for (key, value) in keys.iter_mut().zip(values) {
            *key = key.append(bits, (value.clamp(min, max) - min) >> dropped);
        }
    }
}

/// The parts of a key, from the most to the least significant.
#[derive(Clone, Debug)]
pub(super) struct Packing {
    pub(super) packed: Vec<Packed>,
    pub(super) bits: u32,
    /// The number of leading words that equal keys have in common.
    pub(super) words: usize,
    /// `true` if equal keys imply equal coordinates.
    pub(super) exact: bool,
}

impl Default for Packing {
    /// Creates a packing without parts. All cells have the same key.
    fn default() -> Self {
        Self { packed: Vec::new(), bits: 0, words: 0, exact: true }
    }
}

impl Packing {
    /// Assigns bits to the parts, until the key is full.
    pub(super) fn of(parts: Vec<(Part, u64, u64)>, bounds: &[DimRange]) -> Self {
        let mut packing = Self::default();
        packing.pack(parts, bounds);
        packing
    }

    fn pack(&mut self, parts: Vec<(Part, u64, u64)>, bounds: &[DimRange]) {
        for (part, min, max) in parts {
            if let Part::Text { dimension, .. } = part {
                // If the range contains only one string, no comparison is necessary. Of longer
                // ranges, only the first bytes after the common prefix fit.
                if let DimRange::Var { lo, hi } = &bounds[dimension]
                    && hi.as_ref() != Bound::Included(lo)
                {
                    self.pack_text(dimension, common_prefix(lo, hi));
                    self.exact = false;
                    return;
                }
                continue;
            }
            let bits = u64::BITS - (max - min).leading_zeros();
            let dropped = bits.saturating_sub(u128::BITS - self.bits);
            self.push(Packed { part, min, max, bits: bits - dropped, dropped });
            if dropped > 0 {
                self.exact = false;
                return;
            }
            if let Part::Word(word) = part {
                self.words = word + 1;
            }
        }
    }

    fn pack_text(&mut self, dimension: usize, prefix: usize) {
        for skip in [prefix, prefix + 8] {
            let bits = (u128::BITS - self.bits).min(u64::BITS) / 8 * 8;
            let part = Part::Text { dimension, skip };
            self.push(Packed { part, min: 0, max: u64::MAX, bits, dropped: u64::BITS - bits });
        }
    }

    fn push(&mut self, packed: Packed) {
        self.bits += packed.bits;
        if packed.bits > 0 {
            self.packed.push(packed);
        }
    }
}

/// Returns the length in bytes of the common prefix of all strings from `lo` to `hi`.
fn common_prefix(lo: &[u8], hi: &Bound<Vec<u8>>) -> usize {
    match hi {
        Bound::Included(hi) | Bound::Excluded(hi) => lo.iter().zip(hi).take_while(|(a, b)| a == b).count(),
        Bound::Unbounded => 0,
    }
}
