//! Packing what cells are compared by into integers.

use std::ops::Bound;

use tdb_rtree::DimRange;
use tdb_schema::Tiling;

use crate::order::key::Key;

/// Something that cells are compared by.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// A leading word of the global order.
    Word(usize),
    /// The distance of the coordinate from the low end of its space tile.
    Offset { dimension: usize, low: u64, extent: u64, tiling: Tiling },
    /// The coordinate of a fixed-size type.
    Coordinate(usize),
    /// Eight bytes of a string.
    Text { dimension: usize, skip: usize },
    /// Tells the two floating-point zeros apart, which are ordered as equals but are different coordinates.
    ZeroSign { dimension: usize, positive: u64 },
}

/// A part's place in the key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    pub(super) part: Part,
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) bits: u32,
    /// Low bits for which there was no room.
    pub(super) dropped: u32,
}

impl Packed {
    /// Appends the part to each key.
    #[inline]
    pub(super) fn append<K: Key>(&self, keys: &mut [K], values: impl Iterator<Item = u64>) {
        // Only broken files have coordinates outside of the bounds.
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
    /// Whether equal keys mean equal coordinates.
    pub(super) exact: bool,
}

impl Default for Packing {
    /// Nothing is compared, so that all cells are equal.
    fn default() -> Self {
        Self { packed: Vec::new(), bits: 0, exact: true }
    }
}

impl Packing {
    /// Gives the parts their bits, as long as there is room.
    pub(super) fn of(parts: Vec<(Part, u64, u64)>, bounds: &[DimRange]) -> Self {
        let mut packing = Self::default();
        packing.pack(parts, bounds);
        packing
    }

    fn pack(&mut self, parts: Vec<(Part, u64, u64)>, bounds: &[DimRange]) {
        for (part, min, max) in parts {
            if let Part::Text { dimension, .. } = part {
                // A single string needs no comparison; of others no more can be packed than how they begin.
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

/// How many bytes all strings from `lo` to `hi` begin with in common.
fn common_prefix(lo: &[u8], hi: &Bound<Vec<u8>>) -> usize {
    match hi {
        Bound::Included(hi) | Bound::Excluded(hi) => lo.iter().zip(hi).take_while(|(a, b)| a == b).count(),
        Bound::Unbounded => 0,
    }
}
