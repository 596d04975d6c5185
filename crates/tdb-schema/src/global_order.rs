//! The global order: the order of the cells of a sparse array on disk.
//!
//! With row-major or column-major cell order, cells are sorted by space tile, in tile order. Within
//! a tile, cells are sorted by coordinates, in cell order. With Hilbert cell order, cells are
//! sorted by Hilbert value, then by coordinates, first dimension first.
//!
//! A [`GlobalOrder`] encodes the part of the sort key that precedes the coordinates as a few `u64`
//! words per cell, usually zero or one. [`leading_word`](GlobalOrder::leading_word) computes one
//! word of many cells at a time. A sorter or merger compares these words, then the coordinates in
//! the order of [`cell_dimensions`](GlobalOrder::cell_dimensions). Neither needs to know tiles,
//! extents or curves.
//!
//! `-0.0` and `0.0` are equal in the global order. Pass the keys of floats through
//! [`make_comparable`] before sorting. Cells with zeros of different sign are not duplicates. To
//! find duplicates, compare the original keys.
//!
//! ```
//! use tdb_schema::global_order::GlobalOrder;
//! use tdb_schema::hilbert::CoordinateColumn;
//! use tdb_schema::{Dimension, SchemaBuilder};
//!
//! let side = |name| Dimension::new(name, 0u8..=99).with_tile(10);
//! let schema = SchemaBuilder::sparse().dimension(side("row")).dimension(side("column")).build()?;
//! let order = GlobalOrder::new(&schema)?;
//!
//! // Ten by ten tiles need one word. The cell (12, 34) is in tile (1, 3).
//! assert_eq!(order.leading_word_count(), 1);
//! let columns = [CoordinateColumn::Values(&[12]), CoordinateColumn::Values(&[34])];
//! let mut words = Vec::new();
//! order.leading_word(0, &columns, &mut words);
//! assert_eq!(words, [13]);
//! assert_eq!(order.cell_dimensions(), [0, 1]);
//! # Ok::<(), tdb_schema::SchemaError>(())
//! ```

use std::cmp::Ordering;

use tdb_types::{Layout, PhysicalType, Scalar, ordered_keys};

use crate::error::Result;
use crate::hilbert::{CoordinateColumn, HilbertCurve};
use crate::{ArraySchema, Dimension, Tiling};

/// The global order of the cells of an array.
#[derive(Clone, Debug)]
pub struct GlobalOrder {
    leading: Leading,
    cell_dimensions: Vec<usize>,
    /// The physical type of each dimension, or `None` for strings.
    physical: Vec<Option<PhysicalType>>,
}

/// The part of the sort key before the coordinates.
#[derive(Clone, Debug)]
enum Leading {
    Hilbert(Box<HilbertCurve>),
    /// The space tile, as words of tile indices.
    Tiles(Vec<Word>),
}

/// Tile indices of one or more dimensions, packed into one number in mixed radix. The last digit is
/// the least significant.
#[derive(Clone, Debug)]
struct Word {
    digits: Vec<Digit>,
    /// The number of possible values of the word, or `None` if the word may have any `u64` value.
    count: Option<u64>,
}

/// The tile index along one dimension.
#[derive(Clone, Debug)]
struct Digit {
    dimension: usize,
    physical: PhysicalType,
    tiling: Tiling,
    /// The number of tiles along the dimension. If `None`, the number is inexact or exceeds `u64`,
    /// and the index takes a whole word.
    count: Option<u64>,
}

/// A coordinate of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinate<'a> {
    /// The [ordered key](tdb_types::ordered_key) of a fixed-size value.
    Key(u64),
    /// A string.
    String(&'a [u8]),
}

impl GlobalOrder {
    /// Creates the global order of arrays with this schema.
    ///
    /// Dense schemas are allowed, because old releases could write sparse fragments into dense
    /// arrays.
    ///
    /// # Errors
    /// Fails if the cell order is Hilbert and the schema has more than 16 dimensions.
    pub fn new(schema: &ArraySchema) -> Result<Self> {
        let leading = match schema.cell_order() {
            Layout::Hilbert => Leading::Hilbert(Box::new(HilbertCurve::new(schema.domain())?)),
            _ => Leading::Tiles(words(schema)),
        };
        let cell_dimensions = in_order(schema.cell_order(), schema.dim_count());
        let physical = schema.dimensions().iter().map(|d| (!d.is_var()).then(|| d.physical())).collect();
        Ok(Self { leading, cell_dimensions, physical })
    }

    /// Returns the Hilbert curve that sorts the cells, or `None` if the cell order is not Hilbert.
    #[must_use]
    pub fn hilbert(&self) -> Option<&HilbertCurve> {
        match &self.leading {
            Leading::Hilbert(curve) => Some(curve),
            Leading::Tiles(_) => None,
        }
    }

    /// Returns the dimensions whose space tiles sort the cells, most significant first.
    ///
    /// Excludes strings and dimensions with a single tile. Empty for Hilbert order.
    #[must_use]
    pub fn tile_dimensions(&self) -> Vec<usize> {
        match &self.leading {
            Leading::Hilbert(_) => Vec::new(),
            Leading::Tiles(words) => words.iter().flat_map(|word| &word.digits).map(|digit| digit.dimension).collect(),
        }
    }

    /// Returns all dimensions in the order of coordinate comparison.
    #[must_use]
    pub fn cell_dimensions(&self) -> &[usize] {
        &self.cell_dimensions
    }

    /// Returns the number of words per cell before the coordinates.
    ///
    /// Hilbert order has one word. Other orders use the fewest words that hold the tile indices of
    /// all dimensions, and no word if the domain is a single tile.
    #[must_use]
    pub fn leading_word_count(&self) -> usize {
        match &self.leading {
            Leading::Hilbert(_) => 1,
            Leading::Tiles(words) => words.len(),
        }
    }

    /// Appends leading word number `word` of each cell to `words`. Word 0 is the most significant.
    ///
    /// `columns` holds the coordinates, one column per dimension, in schema order. Appends no
    /// values if `word` is out of bounds or columns are missing.
    pub fn leading_word(&self, word: usize, columns: &[CoordinateColumn<'_>], words: &mut Vec<u64>) {
        match &self.leading {
            Leading::Hilbert(curve) if word == 0 => curve.values(columns, words),
            Leading::Tiles(all) if columns.len() >= self.physical.len() => {
                if let Some(word) = all.get(word) {
                    word.values(columns, words);
                }
            }
            _ => {}
        }
    }

    /// Compares two cells by their coordinates, one per dimension, in schema order.
    ///
    /// Each call computes the leading words again. To sort many cells, compute [leading
    /// words](Self::leading_word) once instead. Each cell must have a coordinate for every
    /// dimension.
    #[must_use]
    pub fn compare(&self, a: &[Coordinate<'_>], b: &[Coordinate<'_>]) -> Ordering {
        let leading = (0..self.leading_word_count()).map(|word| {
            let word_of = |cell| self.leading_word_of_one(word, cell);
            word_of(a).cmp(&word_of(b))
        });
        let coordinates = self.cell_dimensions.iter().map(|&dimension| match (a.get(dimension), b.get(dimension)) {
            (Some(Coordinate::Key(a)), Some(Coordinate::Key(b))) => {
                let mut keys = [*a, *b];
                if let Some(physical) = self.physical.get(dimension).copied().flatten() {
                    make_comparable(physical, &mut keys);
                }
                keys[0].cmp(&keys[1])
            }
            (Some(Coordinate::String(a)), Some(Coordinate::String(b))) => a.cmp(b),
            _ => Ordering::Equal,
        });
        leading.chain(coordinates).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
    }

    fn leading_word_of_one(&self, word: usize, cell: &[Coordinate<'_>]) -> Option<u64> {
        let columns: Vec<_> = cell
            .iter()
            .map(|coordinate| match coordinate {
                Coordinate::Key(key) => CoordinateColumn::Keys(std::slice::from_ref(key)),
                Coordinate::String(values) => CoordinateColumn::Strings { offsets: &[0], values },
            })
            .collect();
        let mut value = Vec::with_capacity(1);
        self.leading_word(word, &columns, &mut value);
        value.first().copied()
    }
}

/// Replaces the key of `-0.0` by the key of `0.0`, because the global order treats the two as
/// equal. Does not change keys of other types.
pub fn make_comparable(physical: PhysicalType, keys: &mut [u64]) {
    let zero = match physical {
        PhysicalType::F32 => Scalar::F32(0.0).key(),
        PhysicalType::F64 => Scalar::F64(0.0).key(),
        _ => return,
    };
    for key in keys {
        // The key of `-0.0` immediately precedes the key of `0.0`.
        *key += u64::from(*key == zero - 1);
    }
}

/// Returns the indices of the dimensions, most significant first. Column-major order reverses the
/// dimensions.
#[must_use]
pub fn in_order(order: Layout, dimensions: usize) -> Vec<usize> {
    match order {
        Layout::ColMajor => (0..dimensions).rev().collect(),
        _ => (0..dimensions).collect(),
    }
}

/// Packs the tile indices of all dimensions into the fewest words.
fn words(schema: &ArraySchema) -> Vec<Word> {
    let dimensions = schema.dimensions();
    let mut words: Vec<Word> = Vec::new();
    for index in in_order(schema.tile_order(), dimensions.len()) {
        let Some(digit) = dimensions.get(index).and_then(|dimension| Digit::new(index, dimension)) else { continue };
        let room = words.last().and_then(|word| word.count?.checked_mul(digit.count?));
        match (words.last_mut(), room) {
            (Some(word), Some(count)) => {
                word.count = Some(count);
                word.digits.push(digit);
            }
            _ => words.push(Word { count: digit.count, digits: vec![digit] }),
        }
    }
    words
}

impl Digit {
    /// Returns the digit of a dimension, or `None` for strings and for a dimension with a single
    /// tile.
    fn new(index: usize, dimension: &Dimension) -> Option<Self> {
        /// The number of tiles up to which quotients of floats are exact.
        const MOST_FLOAT_TILES: u64 = 1 << 53;
        let tiling = dimension.tiling();
        let (_, high) = dimension.domain_keys().filter(|_| !tiling.is_one_tile())?;
        let last = tiling.index(high);
        let countable = !dimension.physical().is_float() || last < MOST_FLOAT_TILES;
        let count = last.checked_add(1).filter(|_| countable);
        (count != Some(1)).then(|| Self { dimension: index, physical: dimension.physical(), tiling, count })
    }

    /// Appends the tile index of each cell.
    fn indices(&self, column: &CoordinateColumn<'_>, indices: &mut Vec<u64>) {
        match column {
            CoordinateColumn::Keys(keys) => self.tiling.indices(keys, indices),
            CoordinateColumn::Values(bytes) => {
                let mut keys = Vec::with_capacity(bytes.len() / self.physical.size());
                ordered_keys(self.physical, bytes, &mut keys);
                self.tiling.indices(&keys, indices);
            }
            // Only fixed-size dimensions have digits. A mismatched string column counts as the
            // first tile.
            CoordinateColumn::Strings { offsets, .. } => indices.extend(offsets.iter().map(|_| 0)),
        }
    }
}

impl Word {
    fn values(&self, columns: &[CoordinateColumn<'_>], words: &mut Vec<u64>) {
        let start = words.len();
        let mut indices = Vec::new();
        for (place, digit) in self.digits.iter().enumerate() {
            let Some(column) = columns.get(digit.dimension) else { return };
            if place == 0 {
                digit.indices(column, words);
                if let Some(count) = digit.count {
                    // Clamps coordinates outside of the domain to keep the higher digits correct.
                    // Only damaged fragments have such coordinates.
                    words.iter_mut().skip(start).for_each(|word| *word = (*word).min(count - 1));
                }
                continue;
            }
            indices.clear();
            digit.indices(column, &mut indices);
            let count = digit.count.unwrap_or(u64::MAX);
            for (word, index) in words.iter_mut().skip(start).zip(&indices) {
                *word = word.wrapping_mul(count).wrapping_add((*index).min(count - 1));
            }
        }
    }
}

#[cfg(test)]
mod tests;
