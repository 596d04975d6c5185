//! Keys of cells, and key bounds of boxes.

use std::ops::Bound;

use tdb_rtree::{DimRange, NdRange};
use tdb_schema::global_order::GlobalOrder;
use tdb_schema::hilbert::CoordinateColumn;

use super::pack::{Packed, Part};
use super::{CellOrder, positive_zero};
use crate::order::coordinates::Coordinates;
use crate::order::entries::Entries;
use crate::order::key::{Entry, Key};
use crate::workers::Workers;
use crate::{Cancelled, Result};

/// The number of cells between two checks for cancellation.
const CHUNK: usize = 1 << 16;

/// Entries, and the minimum and maximum key.
type EntriesInBounds<K> = (Entries<<K as Key>::Entry>, (K, K));

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
        self.append_keys(&columns, keys);
    }

    /// Returns entries of `cells` cells in slot 0, and the minimum and maximum key. `cells` must
    /// not exceed `u32::MAX`. The workers compute the keys in chunks.
    ///
    /// # Errors
    /// The query was cancelled.
    pub fn entries<K: Key>(
        &self,
        workers: &Workers,
        coordinates: &[Coordinates],
        cells: usize,
    ) -> Result<EntriesInBounds<K>, Cancelled> {
        let mut entries = Entries::<K::Entry>::default();
        entries.resize(cells);
        let bytes = size_of_val(&*entries) as u64;
        let chunks = entries.chunks_mut(CHUNK).zip((0_u32..).step_by(CHUNK)).collect();
        let bounds = workers.map(bytes, chunks, |(chunk, first): (&mut [K::Entry], u32), _| {
            let start = first as usize;
            let cells = start..start + chunk.len();
            let columns: Vec<_> = coordinates.iter().map(|column| column.part(cells.clone())).collect();
            let mut keys = vec![K::default(); chunk.len()];
            self.append_keys(&columns, &mut keys);
            let mut bounds = (K::HIGHEST, K::default());
            for ((entry, key), cell) in chunk.iter_mut().zip(keys).zip(first..) {
                *entry = Entry::new(key, 0, cell);
                bounds = (bounds.0.min(key), bounds.1.max(key));
            }
            Ok::<_, Cancelled>(bounds)
        })?;
        let whole = |(low, high): (K, K), (min, max)| (low.min(min), high.max(max));
        Ok((entries, bounds.into_iter().fold((K::HIGHEST, K::default()), whole)))
    }

    /// Appends all parts of the key to the key of each cell.
    fn append_keys<K: Key>(&self, columns: &[CoordinateColumn<'_>], keys: &mut [K]) {
        for packed in &self.packing.packed {
            match packed.part {
                Part::Word(word) => {
                    let mut words = Vec::with_capacity(keys.len());
                    if let Some(global) = &self.leading {
                        global.leading_word(word, columns, &mut words);
                    }
                    packed.append(keys, words.into_iter());
                }
                Part::Offset { dimension, low, extent, tiling } => {
                    let coordinates = keys_in(&columns[dimension]);
                    let mut tiles = Vec::with_capacity(keys.len());
                    tiling.indices(coordinates, &mut tiles);
                    let offsets =
                        coordinates.iter().zip(tiles).map(|(key, tile)| key.wrapping_sub(low + tile * extent));
                    packed.append(keys, offsets);
                }
                Part::Coordinate(dimension) => {
                    let values = keys_in(&columns[dimension]).iter().copied();
                    match self.physical[dimension].and_then(positive_zero) {
                        // The key of -0.0 directly precedes the key of 0.0.
                        Some(zero) => packed.append(keys, values.map(|key| key + u64::from(key == zero - 1))),
                        None => packed.append(keys, values),
                    }
                }
                Part::Text { dimension, skip } => {
                    let strings = &columns[dimension];
                    packed.append(keys, (0..).map(|cell| eight_bytes(strings.string(cell), skip)));
                }
                Part::ZeroSign { dimension, positive } => {
                    let values = keys_in(&columns[dimension]).iter();
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

/// Returns the keys of a column of numbers.
fn keys_in<'a>(column: &CoordinateColumn<'a>) -> &'a [u64] {
    match column {
        CoordinateColumn::Keys(keys) => keys,
        _ => &[],
    }
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
    use tdb_types::{Layout, Limits, Scalar};

    use super::CHUNK;
    use crate::order::cell_order::CellOrder;
    use crate::order::coordinates::Coordinates;
    use crate::order::key::{Entry, Key};
    use crate::{Cancelled, CellBuffers, Monitor, Order, Watch, Workers};

    /// Some cells more than two chunks.
    const CELLS: usize = 2 * CHUNK + 7;

    /// Returns unsorted numbers below `most`.
    fn numbers(most: u64) -> impl Iterator<Item = u64> {
        (0..CELLS as u64).map(move |cell| cell.wrapping_mul(0x9e37_79b9_7f4a_7c15) % most)
    }

    fn entries_equal_keys<K: Key>(order: &CellOrder, coordinates: &[Coordinates]) {
        let keys = order.keys::<K>(coordinates, CELLS);
        for threads in [1, 2] {
            let workers = Workers::new(threads, Limits::default());
            let (entries, bounds) = order.entries::<K>(&workers, coordinates, CELLS).unwrap();
            assert!(entries.iter().zip(0..).all(|(entry, cell)| entry.place() == (0, cell)));
            assert!(entries.iter().map(Entry::key).eq(keys.iter().copied()));
            assert_eq!(Some(bounds), keys.iter().min().copied().zip(keys.iter().max().copied()));
        }
    }

    #[test]
    fn entries_have_the_same_keys_with_any_number_of_threads() {
        let float = |number: u64| Scalar::F64(if number == 0 { -0.0 } else { number as f64 / 4.0 }).key();
        let floats = Coordinates::Keys(numbers(4000).map(float).collect());
        let integers = Coordinates::Keys(numbers(1000).collect());
        let texts: Vec<_> = numbers(5000).map(|number| format!("a{number}")).collect();
        let strings = Coordinates::Strings(CellBuffers::of_strings(texts.iter().map(String::as_bytes)));
        let coordinates = [floats, integers, strings];
        let bounds = [
            DimRange::Fixed { lo: Scalar::F64(-0.0).key(), hi: Scalar::F64(1000.0).key() },
            DimRange::Fixed { lo: 0, hi: 999 },
            DimRange::strings("a0", "a9"),
        ];
        for (layout, order) in [
            (Layout::RowMajor, Order::Global),
            (Layout::ColMajor, Order::Global),
            (Layout::Hilbert, Order::Global),
            (Layout::RowMajor, Order::RowMajor),
            (Layout::RowMajor, Order::ColMajor),
        ] {
            for dimensions in [0..2, 1..2, 1..3, 2..3, 0..3] {
                let kinds = [
                    Dimension::new("f", -0.0f64..=1000.0).with_tile(10.0),
                    Dimension::new("i", 0u64..=999).with_tile(37),
                    Dimension::string("s"),
                ];
                let schema = SchemaBuilder::sparse().cell_order(layout);
                let schema = kinds[dimensions.clone()].iter().cloned().fold(schema, SchemaBuilder::dimension);
                let order = CellOrder::new(&schema.build().unwrap(), order, &bounds[dimensions.clone()]).unwrap();
                entries_equal_keys::<u128>(&order, &coordinates[dimensions.clone()]);
                if order.bits() <= u64::BITS {
                    entries_equal_keys::<u64>(&order, &coordinates[dimensions]);
                }
            }
        }
    }

    #[test]
    fn cancellation_stops_the_computation_of_keys() {
        let schema = SchemaBuilder::sparse().dimension(Dimension::new("i", 0u64..=999)).build().unwrap();
        let order = CellOrder::new(&schema, Order::Global, &[DimRange::Fixed { lo: 0, hi: 999 }]).unwrap();
        let monitor = Monitor::new();
        monitor.cancel();
        for threads in [1, 2] {
            let workers = Workers::new(threads, Limits::default()).watched(Watch::new(&monitor));
            // A computed key would panic, because the cells have no coordinates.
            let entries = order.entries::<u64>(&workers, &[Coordinates::Keys(Vec::new())], CELLS);
            assert!(matches!(entries, Err(Cancelled)));
        }
    }

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
