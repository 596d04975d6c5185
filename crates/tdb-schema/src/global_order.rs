//! The global order: the order in which the cells of a sparse array lie on disk.
//!
//! With row-major or column-major cells, cells are ordered by the space tile that they lie in, tiles in tile order, and
//! within a tile by their coordinates in cell order. With cells in Hilbert order they are ordered by their Hilbert value,
//! then by their coordinates, the first dimension first.
//!
//! A [`GlobalOrder`] turns everything that comes before the coordinates into a few `u64` words per cell (mostly one or
//! none), computed a column at a time: [`leading_word`](GlobalOrder::leading_word). A sorter or merger compares those
//! words, then the coordinates in the order of [`cell_dimensions`](GlobalOrder::cell_dimensions), and has no need to know
//! of tiles, extents or curves.
//!
//! Floats bring one subtlety. In the order, `-0.0` and `0.0` are equal, so pass their keys through [`make_comparable`]
//! first; but cells that differ in the sign of a zero are no duplicates, so compare the keys themselves there.
//!
//! ```
//! use tdb_schema::global_order::GlobalOrder;
//! use tdb_schema::hilbert::CoordinateColumn;
//! use tdb_schema::{Dimension, SchemaBuilder};
//! use tdb_types::{Datatype, Scalar};
//!
//! let side = |name| Dimension::new(name, Datatype::UInt8, Scalar::U8(0), Scalar::U8(99)).with_tile_extent(Scalar::U8(10));
//! let schema = SchemaBuilder::sparse().dimension(side("row")).dimension(side("column")).build()?;
//! let order = GlobalOrder::new(&schema)?;
//!
//! // Ten by ten tiles need one word; the cell (12, 34) lies in tile (1, 3).
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

/// How the cells of a sparse array are ordered on disk.
#[derive(Clone, Debug)]
pub struct GlobalOrder {
    leading: Leading,
    cell_dimensions: Vec<usize>,
    /// The physical type of each dimension; nothing for strings.
    physical: Vec<Option<PhysicalType>>,
}

/// What comes before the coordinates.
#[derive(Clone, Debug)]
enum Leading {
    Hilbert(Box<HilbertCurve>),
    /// The space tile, as words of one or more dimensions' tile indices.
    Tiles(Vec<Word>),
}

/// Tile indices of one or more dimensions in one number: the last digit counts ones, the one before it counts as many as
/// the last can be, and so on.
#[derive(Clone, Debug)]
struct Word {
    digits: Vec<Digit>,
    /// How many values the word can have; nothing if it can have all.
    count: Option<u64>,
}

/// One dimension's tile index.
#[derive(Clone, Debug)]
struct Digit {
    dimension: usize,
    physical: PhysicalType,
    tiling: Tiling,
    /// Tiles along the dimension; nothing if they can't be counted, so that the index needs a word of its own.
    count: Option<u64>,
}

/// A coordinate of one cell along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinate<'a> {
    /// The [ordered key](tdb_types::ordered_key) of a fixed-size value.
    Key(u64),
    /// A string.
    String(&'a [u8]),
}

impl GlobalOrder {
    /// The order of the cells of arrays with this schema. Dense arrays have one too: it is that of their sparse fragments,
    /// which old releases could write.
    ///
    /// # Errors
    /// A Hilbert order over more dimensions than a curve can have.
    pub fn new(schema: &ArraySchema) -> Result<Self> {
        let leading = match schema.cell_order() {
            Layout::Hilbert => Leading::Hilbert(Box::new(HilbertCurve::new(schema.domain())?)),
            _ => Leading::Tiles(words(schema)),
        };
        let cell_dimensions = in_order(schema.cell_order(), schema.dim_count());
        let physical = schema.dimensions().iter().map(|d| (!d.is_var()).then(|| d.physical())).collect();
        Ok(Self { leading, cell_dimensions, physical })
    }

    /// The Hilbert curve that orders the cells, in Hilbert order.
    #[must_use]
    pub fn hilbert(&self) -> Option<&HilbertCurve> {
        match &self.leading {
            Leading::Hilbert(curve) => Some(curve),
            Leading::Tiles(_) => None,
        }
    }

    /// The dimensions whose space tiles order the cells, the most significant first. Strings and dimensions of a single
    /// tile are not among them.
    #[must_use]
    pub fn tile_dimensions(&self) -> Vec<usize> {
        match &self.leading {
            Leading::Hilbert(_) => Vec::new(),
            Leading::Tiles(words) => words.iter().flat_map(|word| &word.digits).map(|digit| digit.dimension).collect(),
        }
    }

    /// All dimensions in the order in which coordinates are compared.
    #[must_use]
    pub fn cell_dimensions(&self) -> &[usize] {
        &self.cell_dimensions
    }

    /// How many words per cell come before the coordinates: one in Hilbert order, else as few as hold the tile indices of
    /// all dimensions, which is none where everything is one tile.
    #[must_use]
    pub fn leading_word_count(&self) -> usize {
        match &self.leading {
            Leading::Hilbert(_) => 1,
            Leading::Tiles(words) => words.len(),
        }
    }

    /// Appends a leading word of each cell to `words`; word 0 is the most significant. `columns` holds the coordinates, one
    /// column per dimension, in the order of the schema.
    ///
    /// Nothing is appended for a word that there isn't, or with fewer columns than dimensions.
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

    /// Compares two cells by their coordinates, one per dimension, in the order of the schema.
    ///
    /// It works everything out anew: for sorting, compute [leading words](Self::leading_word) instead.
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

/// Makes the keys of floats compare as the format compares floats: `-0.0` becomes `0.0`. Other types stay as they are.
pub fn make_comparable(physical: PhysicalType, keys: &mut [u64]) {
    let zero = match physical {
        PhysicalType::F32 => Scalar::F32(0.0).key(),
        PhysicalType::F64 => Scalar::F64(0.0).key(),
        _ => return,
    };
    for key in keys {
        // The key of -0.0 is the one before that of 0.0.
        *key += u64::from(*key == zero - 1);
    }
}

/// The dimensions from the most to the least significant.
fn in_order(order: Layout, dimensions: usize) -> Vec<usize> {
    match order {
        Layout::ColMajor => (0..dimensions).rev().collect(),
        _ => (0..dimensions).collect(),
    }
}

/// Packs the tile indices of all dimensions into as few words as hold them.
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
    /// The dimension's part in the order of tiles; nothing if all cells lie in one tile.
    fn new(index: usize, dimension: &Dimension) -> Option<Self> {
        /// Up to here quotients of floats are exact enough to be counted on.
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
            // Only fixed-size dimensions have digits; strings in their place count as the first tile.
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
                    // Coordinates outside of the domain (in broken fragments alone) must not disturb other digits.
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
