//! Keys of cells, and key bounds of boxes.

use std::ops::Bound;

use tdb_rtree::{DimRange, NdRange};
use tdb_schema::global_order::GlobalOrder;

use super::pack::{Packed, Part};
use super::{CellOrder, positive_zero};
use crate::order::coordinates::Coordinates;
use crate::order::key::Key;

impl CellOrder {
    /// Returns the keys of `cells` cells. `coordinates` has a column for each dimension.
    pub fn keys<K: Key>(&self, coordinates: &[Coordinates], cells: usize) -> Vec<K> {
        let mut keys = Vec::new();
        self.keys_into(coordinates, cells, &mut keys);
        keys
    }

    /// Replaces `keys` by the keys of `cells` cells.
    pub fn keys_into<K: Key>(&self, coordinates: &[Coordinates], cells: usize, keys: &mut Vec<K>) {
        keys.clear();
        keys.resize(cells, K::default());
        let columns: Vec<_> = coordinates.iter().map(Coordinates::column).collect();
        for packed in &self.packing.packed {
            match packed.part {
                Part::Word(word) => {
                    let mut words = Vec::with_capacity(cells);
                    if let Some(global) = &self.leading {
                        global.leading_word(word, &columns, &mut words);
                    }
                    packed.append(keys, words.into_iter());
                }
                Part::Offset { dimension, low, extent, tiling } => {
                    let coordinates = coordinates[dimension].keys();
                    let mut tiles = Vec::with_capacity(cells);
                    tiling.indices(coordinates, &mut tiles);
                    let offsets =
                        coordinates.iter().zip(tiles).map(|(key, tile)| key.wrapping_sub(low + tile * extent));
                    packed.append(keys, offsets);
                }
                Part::Coordinate(dimension) => self.append_coordinates(packed, dimension, coordinates, keys),
                Part::Text { dimension, skip } => {
                    let strings = &coordinates[dimension];
                    packed.append(keys, (0..cells).map(|cell| eight_bytes(strings.string(cell), skip)));
                }
                Part::ZeroSign { dimension, positive } => {
                    let values = coordinates[dimension].keys().iter();
                    packed.append(keys, values.map(|key| u64::from(*key == positive)));
                }
            }
        }
    }

    /// Replaces `keys` by the keys of the cells with these indices.
    pub fn keys_of<K: Key>(&self, coordinates: &[Coordinates], cells: &[u32], keys: &mut Vec<K>) {
        let coordinates: Vec<_> = coordinates.iter().map(|coordinates| coordinates.of_cells(cells)).collect();
        self.keys_into(&coordinates, cells.len(), keys);
    }

    fn append_coordinates<K: Key>(
        &self,
        packed: &Packed,
        dimension: usize,
        coordinates: &[Coordinates],
        keys: &mut [K],
    ) {
        let values = coordinates[dimension].keys().iter().copied();
        match self.physical[dimension].and_then(positive_zero) {
            // The key of -0.0 directly precedes the key of 0.0.
            Some(zero) => packed.append(keys, values.map(|key| key + u64::from(key == zero - 1))),
            None => packed.append(keys, values),
        }
    }

    /// Returns a lower and an upper bound for the keys of all cells in a box.
    pub fn ends<K: Key>(&self, bounds: &[DimRange]) -> (K, K) {
        if let Some(curve) = self.leading.as_ref().and_then(GlobalOrder::hilbert) {
            let corners: Vec<_> = bounds.iter().map(Coordinates::of_bounds).collect();
            let corners: Vec<_> = corners.iter().map(Coordinates::column).collect();
            let (low, high) = if is_endless(bounds) { (0, u64::MAX) } else { curve.ends(&corners) };
            let (low, high): (K, K) = (self.key_of_word(low), self.key_of_word(high));
            return (low.clear_low(self.bits_after(1)), high.fill_low(self.bits_after(1)));
        }
        let (low, high): (K, K) = self.corners(bounds);
        self.ends_of_corners(low, high)
    }

    /// Returns the bounds of [`ends`](Self::ends) for many boxes, with keys computed in one pass.
    pub fn ends_of_all<K: Key>(&self, boxes: &[NdRange]) -> Vec<(K, K)> {
        let is_hilbert = self.leading.as_ref().and_then(GlobalOrder::hilbert).is_some();
        let Some(corners) = (!is_hilbert).then(|| corners_of_all(boxes)).flatten() else {
            return boxes.iter().map(|bounds| self.ends(&bounds.0)).collect();
        };
        let signs = self.sign_bits();
        let keys = self.keys::<K>(&corners, 2 * boxes.len());
        let pairs = keys.as_chunks::<2>().0.iter();
        pairs.map(|[low, high]| self.ends_of_corners(low.clear_low(signs), high.fill_low(signs))).collect()
    }

    /// Returns a lower and an upper bound for the keys of all cells in a box, from the keys of the
    /// corners.
    fn ends_of_corners<K: Key>(&self, low: K, high: K) -> (K, K) {
        // Within a space tile the corners are bounds, as in row-major and column-major order. If a
        // box spans several tiles, only the first word is a bound.
        let is_word = |packed: &&Packed| matches!(packed.part, Part::Word(_));
        let words = self.packing.packed.iter().take_while(is_word).count();
        let after = self.bits_after(words);
        if words == 0 || low.clear_low(after) == high.clear_low(after) {
            return (low, high);
        }
        (low.clear_low(self.bits_after(1)), high.fill_low(self.bits_after(1)))
    }

    /// Returns the keys of the lower and upper corner of a box. These keys bound the keys of all
    /// cells in the box. In global order, the keys of the corners are bounds only within a space
    /// tile.
    fn corners<K: Key>(&self, bounds: &[DimRange]) -> (K, K) {
        let corners: Vec<_> = bounds.iter().map(Coordinates::of_bounds).collect();
        let signs = self.sign_bits();
        match self.keys::<K>(&corners, 2)[..] {
            [low, _] if is_endless(bounds) => (low.clear_low(signs), K::HIGHEST),
            [low, high] => (low.clear_low(signs), high.fill_low(signs)),
            _ => (K::default(), K::HIGHEST),
        }
    }

    /// Returns the number of low key bits that hold the signs of zeros. Bounds ignore these bits,
    /// because a box bounded by a zero may contain zeros of the other sign.
    fn sign_bits(&self) -> u32 {
        let is_sign = |packed: &&Packed| matches!(packed.part, Part::ZeroSign { .. });
        self.packing.packed.iter().rev().take_while(is_sign).map(|packed| packed.bits).sum()
    }

    /// Returns the number of key bits after the first `parts` parts.
    fn bits_after(&self, parts: usize) -> u32 {
        self.packing.packed.iter().skip(parts).map(|packed| packed.bits).sum()
    }

    /// Returns a key from the first leading word, with all other bits 0.
    fn key_of_word<K: Key>(&self, word: u64) -> K {
        let mut keys = [K::default()];
        for (place, packed) in self.packing.packed.iter().enumerate() {
            packed.append(&mut keys, std::iter::once(if place == 0 { word } else { packed.min }));
        }
        keys[0]
    }
}

/// Returns the lower and upper corner of each box as two cells. Returns `None` if a dimension is a
/// string.
fn corners_of_all(boxes: &[NdRange]) -> Option<Vec<Coordinates>> {
    let dimensions = boxes.first()?.0.len();
    let mut corners = vec![Vec::with_capacity(2 * boxes.len()); dimensions];
    for NdRange(ranges) in boxes {
        for (corners, range) in corners.iter_mut().zip(ranges) {
            let DimRange::Fixed { lo, hi } = range else { return None };
            corners.extend([*lo, *hi]);
        }
    }
    Some(corners.into_iter().map(Coordinates::Keys).collect())
}

/// Returns `true` if a range has no end.
fn is_endless(bounds: &[DimRange]) -> bool {
    bounds.iter().any(|range| matches!(range, DimRange::Var { hi: Bound::Unbounded, .. }))
}

/// Returns the eight bytes after `skip` bytes as a big-endian number, which preserves the order.
/// Missing bytes count as zeros.
#[inline]
fn eight_bytes(string: &[u8], skip: usize) -> u64 {
    let rest = string.get(skip..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => rest.iter().enumerate().fold(0, |number, (place, byte)| number | u64::from(*byte) << (56 - 8 * place)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tdb_rtree::{DimRange, NdRange};
    use tdb_schema::{Dimension, SchemaBuilder};
    use tdb_types::Layout;

    use crate::Order;
    use crate::order::cell_order::CellOrder;

    fn range() -> impl Strategy<Value = DimRange> {
        (0..1000_u64, 0..1000_u64).prop_map(|(a, b)| DimRange::Fixed { lo: a.min(b), hi: a.max(b) })
    }

    proptest! {
        #[test]
        fn ends_of_many_boxes_are_those_of_each(
            boxes in prop::collection::vec((range(), range()), 0..20),
            order in prop::sample::select(vec![Order::Global, Order::RowMajor, Order::ColMajor]),
            is_hilbert in any::<bool>(),
        ) {
            let dimension = |name| {
                let dimension = Dimension::new(name, 0u64..=999);
                if is_hilbert { dimension } else { dimension.with_tile(37) }
            };
            let schema = SchemaBuilder::sparse().dimension(dimension("a")).dimension(dimension("b"));
            let schema = if is_hilbert { schema.cell_order(Layout::Hilbert) } else { schema };
            let whole = DimRange::Fixed { lo: 0, hi: 999 };
            let order = CellOrder::new(&schema.build().unwrap(), order, &[whole.clone(), whole]).unwrap();
            let boxes: Vec<NdRange> = boxes.into_iter().map(|(a, b)| NdRange(vec![a, b])).collect();
            let each: Vec<(u128, u128)> = boxes.iter().map(|bounds| order.ends(&bounds.0)).collect();
            prop_assert_eq!(order.ends_of_all::<u128>(&boxes), each);
        }
    }
}
