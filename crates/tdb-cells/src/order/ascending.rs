//! Checks for cells in global order.

mod known;
mod packed;

use std::cmp::Ordering;
use std::ops::Range;

use tdb_schema::global_order::{GlobalOrder, make_comparable};
use tdb_schema::hilbert::CoordinateColumn;
use tdb_schema::{ArraySchema, Dimension};
use tdb_types::{PhysicalType, ordered_key, ordered_keys};

use super::cell_order::global_order;
use crate::Result;
use known::Ascending;
use packed::PackedCheck;

/// A check for cells in ascending global order. The check compares each pair of neighbors, but
/// rarely computes full sort keys. Within a space tile, coordinates suffice. Along the Hilbert
/// curve, the first bits of positions usually suffice.
#[derive(Clone, Debug)]
pub struct AscendingCheck {
    global: GlobalOrder,
    dimensions: Vec<Dimension>,
    /// `true` if cells with equal coordinates are out of order.
    distinct: bool,
    packed: Option<PackedCheck>,
}

/// Memory reused from chunk to chunk.
#[derive(Debug, Default)]
struct Memory {
    /// Keys of each dimension, empty for strings.
    keys: Vec<Vec<u64>>,
    words: Vec<Vec<u64>>,
    packed: Vec<u64>,
}

/// A column of values for comparing cells.
#[derive(Clone, Copy, Debug)]
enum Compared<'a> {
    Numbers(&'a [u64]),
    Strings(CoordinateColumn<'a>),
}

/// The maximum number of pairs compared together. Small enough for the L1 cache.
const PAIRS: usize = 1024;
/// The number of pairs compared in full if the fast check proves the order of at most this number
/// of cells.
const FEW: usize = 64;

impl AscendingCheck {
    /// Creates a check for cells of an array. With `distinct`, coordinates must not repeat.
    ///
    /// # Errors
    /// [`CellsError::Schema`](crate::CellsError::Schema) if the Hilbert order does not support the
    /// number of dimensions.
    pub fn new(schema: &ArraySchema, distinct: bool) -> Result<Self> {
        let global = global_order(schema)?;
        let packed = PackedCheck::new(schema, &global, distinct);
        Ok(Self { global, dimensions: schema.dimensions().to_vec(), distinct, packed })
    }

    /// Returns `true` if the cells in a range are in order. `columns` contains the coordinates by
    /// dimension.
    pub fn holds(&self, columns: &[CoordinateColumn<'_>], cells: Range<usize>) -> bool {
        let mut memory = Memory::default();
        memory.keys.resize_with(self.dimensions.len(), Vec::new);
        memory.words.resize_with(self.global.leading_word_count(), Vec::new);
        let (mut start, mut pairs) = (cells.start, PAIRS);
        while start + 1 < cells.end {
            // Consecutive chunks share a cell.
            let end = cells.end.min(start + pairs + 1);
            let known = match self.ascending(columns, start..end, &mut memory) {
                Ascending::All => end - start,
                Ascending::Some(cells) if cells > FEW => cells,
                Ascending::Some(_) => {
                    let few = end.min(start + FEW + 1);
                    if !self.few_hold(columns, start..few, &mut memory) {
                        return false;
                    }
                    few - start
                }
                Ascending::Never => return false,
            };
            // The next chunk has twice the number of cells settled in this round. A larger chunk
            // would often be examined in vain.
            pairs = (2 * known).clamp(FEW, PAIRS);
            start += known - 1;
            // The first cell after a space tile is compared with the last cell in the tile.
            if start + 1 < end && !self.few_hold(columns, start..start + 2, &mut memory) {
                return false;
            }
            start += usize::from(start + 1 < end);
        }
        true
    }

    /// Returns the number of leading cells known to be in order, without a full comparison if
    /// possible.
    fn ascending(&self, columns: &[CoordinateColumn<'_>], cells: Range<usize>, memory: &mut Memory) -> Ascending {
        let chunk = self.part_of(columns, cells.clone());
        match (&self.packed, self.global.hilbert()) {
            (Some(packed), _) => packed.ascending(&chunk, &mut memory.packed),
            (None, Some(curve)) => {
                let mut prefixes = std::mem::take(&mut memory.packed);
                prefixes.clear();
                curve.prefixes(&chunk, &mut prefixes);
                let ascending = self.along_curve(columns, cells, &prefixes, memory);
                memory.packed = prefixes;
                ascending
            }
            (None, None) if self.dimensions.len() == 1 && strings_ascend(&chunk) => Ascending::All,
            (None, None) => Ascending::Some(0),
        }
    }

    /// Checks cells along the Hilbert curve. Cells with different prefixes have the order of the
    /// prefixes.
    fn along_curve(
        &self,
        columns: &[CoordinateColumn<'_>],
        cells: Range<usize>,
        prefixes: &[u64],
        memory: &mut Memory,
    ) -> Ascending {
        if pairs_hold(prefixes.iter(), |a, b| a < b) {
            return Ascending::All;
        }
        if !pairs_hold(prefixes.iter(), |a, b| a <= b) {
            return Ascending::Never;
        }
        let mut place = cells.start;
        for equal in prefixes.chunk_by(|a, b| a == b) {
            let end = place + equal.len();
            if equal.len() > 1 && !self.few_hold(columns, place..end, memory) {
                return Ascending::Never;
            }
            place = end;
        }
        Ascending::All
    }

    /// Returns a range of cells of all columns.
    fn part_of<'a>(&self, columns: &[CoordinateColumn<'a>], cells: Range<usize>) -> Vec<CoordinateColumn<'a>> {
        let both = columns.iter().zip(&self.dimensions);
        both.map(|(column, dimension)| part_of(column, dimension.physical(), cells.clone())).collect()
    }

    /// Returns `true` if the cells are in order. Compares all leading words and coordinates.
    fn few_hold(&self, columns: &[CoordinateColumn<'_>], cells: Range<usize>, memory: &mut Memory) -> bool {
        let columns = &self.part_of(columns, cells);
        let Memory { keys, words, .. } = memory;
        for ((dimension, column), keys) in self.dimensions.iter().zip(columns).zip(&mut *keys) {
            keys.clear();
            match column {
                CoordinateColumn::Values(values) => ordered_keys(dimension.physical(), values, keys),
                CoordinateColumn::Keys(values) => keys.extend_from_slice(values),
                CoordinateColumn::Strings { .. } => continue,
            }
            make_comparable(dimension.physical(), keys);
        }
        let numbers: Vec<_> = columns.iter().zip(&*keys).map(|(column, keys)| with_keys(column, keys)).collect();
        for (word, words) in words.iter_mut().enumerate() {
            words.clear();
            self.global.leading_word(word, &numbers, words);
        }
        let coordinates = self.global.cell_dimensions().iter().map(|dimension| match columns[*dimension] {
            CoordinateColumn::Strings { .. } => Compared::Strings(columns[*dimension]),
            _ => Compared::Numbers(&keys[*dimension]),
        });
        let words = words.iter().map(|words| Compared::Numbers(words));
        let compared: Vec<_> = words.chain(coordinates).collect();
        let cells = compared.iter().map(Compared::len).min().unwrap_or(0);
        (1..cells).all(|cell| {
            let mut orderings = compared.iter().map(|compared| compared.compare(cell - 1, cell));
            let ordering = orderings.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal);
            ordering.is_lt() || ordering.is_eq() && (!self.distinct || self.differ_in_zeros(columns, cell))
        })
    }

    /// Returns `true` if a cell and its equal predecessor differ in the signs of zeros, and are in
    /// order with `-0.0` before `0.0`.
    fn differ_in_zeros(&self, columns: &[CoordinateColumn<'_>], cell: usize) -> bool {
        let compare = |(dimension, column): (&Dimension, &CoordinateColumn<'_>)| match *column {
            CoordinateColumn::Values(values) => {
                let physical = dimension.physical();
                let key = |cell: usize| ordered_key(physical, &values[cell * physical.size()..][..physical.size()]);
                key(cell - 1).cmp(&key(cell))
            }
            CoordinateColumn::Keys(keys) => keys[cell - 1].cmp(&keys[cell]),
            CoordinateColumn::Strings { .. } => Ordering::Equal,
        };
        self.dimensions.iter().zip(columns).map(compare).find(|ordering| ordering.is_ne()).is_some_and(Ordering::is_lt)
    }
}

/// Returns a column with keys instead of numbers. Strings are unchanged.
fn with_keys<'a>(column: &CoordinateColumn<'a>, keys: &'a [u64]) -> CoordinateColumn<'a> {
    match column {
        CoordinateColumn::Strings { .. } => *column,
        _ => CoordinateColumn::Keys(keys),
    }
}

/// Returns a range of cells of a column.
fn part_of<'a>(column: &CoordinateColumn<'a>, physical: PhysicalType, cells: Range<usize>) -> CoordinateColumn<'a> {
    match *column {
        CoordinateColumn::Keys(keys) => CoordinateColumn::Keys(keys.get(cells).unwrap_or_default()),
        CoordinateColumn::Values(values) => {
            let size = physical.size();
            CoordinateColumn::Values(values.get(cells.start * size..cells.end * size).unwrap_or_default())
        }
        CoordinateColumn::Strings { offsets, values } => {
            let end = offsets.get(cells.end).and_then(|end| usize::try_from(*end).ok()).unwrap_or(values.len());
            let values = values.get(..end).unwrap_or(values);
            CoordinateColumn::Strings { offsets: offsets.get(cells).unwrap_or_default(), values }
        }
    }
}

/// Returns `true` if strings are distinct and ascending. Compares the first eight bytes first.
fn strings_ascend(columns: &[CoordinateColumn<'_>]) -> bool {
    let &[CoordinateColumn::Strings { offsets, values }] = columns else { return false };
    let ends = offsets.iter().skip(1).copied().chain([values.len() as u64]);
    let mut before: &[u8] = &[];
    for (number, (start, end)) in offsets.iter().zip(ends).enumerate() {
        let place = usize::try_from(*start).ok().zip(usize::try_from(end).ok());
        let Some(string) = place.and_then(|(start, end)| values.get(start..end)) else { return false };
        let is_after = match (before.first_chunk::<8>(), string.first_chunk::<8>()) {
            (Some(a), Some(b)) if a != b => u64::from_be_bytes(*a) < u64::from_be_bytes(*b),
            _ => before < string,
        };
        if number > 0 && !is_after {
            return false;
        }
        before = string;
    }
    true
}

/// Returns `true` if all pairs of neighbors satisfy `holds`. Branch-free, because failures are
/// rare.
fn pairs_hold<T: Copy>(values: impl Iterator<Item = T> + Clone, holds: impl Fn(T, T) -> bool) -> bool {
    let followers = values.clone().skip(1);
    values.zip(followers).fold(true, |all, (a, b)| all & holds(a, b))
}

impl Compared<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Strings(CoordinateColumn::Strings { offsets, .. }) => offsets.len(),
            Self::Strings(_) => 0,
        }
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        match self {
            Self::Numbers(numbers) => numbers[a].cmp(&numbers[b]),
            Self::Strings(column) => column.string(a).cmp(column.string(b)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;
    use tdb_schema::SchemaBuilder;
    use tdb_schema::global_order::Coordinate;
    use tdb_types::Layout;

    use super::*;

    fn schema(kinds: &[u8], extent: u16, orders: (Layout, Layout)) -> ArraySchema {
        let mut builder = SchemaBuilder::sparse().cell_order(orders.0).tile_order(orders.1);
        for (index, kind) in kinds.iter().enumerate() {
            let name = format!("d{index}");
            let dimension = match kind {
                0 => Dimension::string(name),
                1 => Dimension::new(name, -50.0f64..=50.0).with_tile(f64::from(extent)),
                _ => Dimension::new(name, -50i16..=1000).with_tile(extent.cast_signed()),
            };
            builder = builder.dimension(dimension);
        }
        builder.build().unwrap()
    }

    fn coordinate(kind: u8, number: i8) -> Vec<u8> {
        let number = number.clamp(-50, 50);
        match kind {
            0 => vec![b'a'; 9].into_iter().chain(number.to_le_bytes()).collect(),
            1 if number == 1 => (-0.0_f64).to_le_bytes().to_vec(),
            1 => f64::from(number).to_le_bytes().to_vec(),
            _ => i16::from(number).to_le_bytes().to_vec(),
        }
    }

    fn coordinates<'a>(cell: &'a [Vec<u8>], keys: &[(bool, u64)]) -> Vec<Coordinate<'a>> {
        let both = cell.iter().zip(keys);
        both.map(|(bytes, (is_string, key))| if *is_string { Coordinate::String(bytes) } else { Coordinate::Key(*key) })
            .collect()
    }

    proptest! {
        /// Checks mostly sorted cells, some swapped or duplicated.
        #[test]
        fn holds_if_all_pairs_are_in_order(
            kinds in prop::collection::vec(0..3_u8, 1..4),
            extent in 1..90_u16,
            orders in prop::sample::select(vec![
                (Layout::RowMajor, Layout::ColMajor), (Layout::ColMajor, Layout::RowMajor), (Layout::Hilbert, Layout::RowMajor),
            ]),
            cells in prop::collection::vec([any::<i8>(), any::<i8>(), any::<i8>()], 0..700),
            swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..2),
            (distinct, dedup) in any::<(bool, bool)>(),
        ) {
            let schema = schema(&kinds, extent, orders);
            let global = GlobalOrder::new(&schema).unwrap();
            let mut cells: Vec<Vec<Vec<u8>>> = cells.into_iter()
                .map(|cell| kinds.iter().zip(cell).map(|(kind, number)| coordinate(*kind, number)).collect())
                .collect();
            let compare = |a: &Vec<Vec<u8>>, b: &Vec<Vec<u8>>| {
                let of = |cell: &'_ [Vec<u8>]| -> Vec<(bool, u64)> {
                    let dimensions = schema.dimensions().iter().zip(cell);
                    dimensions.map(|(dimension, bytes)| match dimension.is_var() {
                        true => (true, 0),
                        false => (false, tdb_types::ordered_key(dimension.physical(), bytes)),
                    }).collect()
                };
                let (keys_a, keys_b) = (of(a), of(b));
                global.compare(&coordinates(a, &keys_a), &coordinates(b, &keys_b))
            };
            cells.sort_by(compare);
            if dedup {
                cells.dedup_by(|a, b| compare(a, b).is_eq());
            }
            let count = cells.len();
            for (a, b) in swaps.iter().filter(|_| count > 0) {
                cells.swap(a.index(count), b.index(count));
            }
            let zeros = |cell: &Vec<Vec<u8>>| -> Vec<bool> { cell.iter().map(|bytes| *bytes == [0; 8]).collect() };
            let expected = cells.windows(2).all(|pair| match compare(&pair[0], &pair[1]) {
                Ordering::Less => true,
                // Zeros of both signs have the same position.
                Ordering::Equal => !distinct || zeros(&pair[0]) < zeros(&pair[1]),
                Ordering::Greater => false,
            });
            let columns: Vec<(Vec<u64>, Vec<u8>)> = (0..kinds.len()).map(|dimension| {
                let (mut offsets, mut values) = (Vec::new(), Vec::new());
                for cell in &cells {
                    offsets.push(values.len() as u64);
                    values.extend_from_slice(&cell[dimension]);
                }
                (offsets, values)
            }).collect();
            let columns: Vec<_> = kinds.iter().zip(&columns).map(|(kind, (offsets, values))| match kind {
                0 => CoordinateColumn::Strings { offsets, values },
                _ => CoordinateColumn::Values(values),
            }).collect();
            let check = AscendingCheck::new(&schema, distinct).unwrap();
            prop_assert_eq!(check.holds(&columns, 0..cells.len()), expected);
        }
    }
}
