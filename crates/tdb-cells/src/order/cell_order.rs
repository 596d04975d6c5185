//! Cell orders as sort keys.

mod keys;
mod pack;

use std::cmp::Ordering;

use tdb_rtree::DimRange;
use tdb_schema::ArraySchema;
use tdb_schema::global_order::{GlobalOrder, make_comparable};
use tdb_types::{PhysicalType, Scalar};

use super::coordinates::Coordinates;
use crate::{CellsError, Order, Result};
use pack::{Packing, Part};

/// An order of cells: the compared values, and the packing of these values into an integer key.
///
/// Packing uses the ranges of coordinates: two dimensions with a million coordinates each in a
/// query take 40 bits together, for any type. Cells with different keys are ordered by key. If the
/// order is [exact](Self::is_exact), cells with equal keys have equal coordinates. Otherwise
/// [`compare`](Self::compare) must decide.
#[derive(Clone, Debug)]
pub struct CellOrder {
    /// The order with words before the coordinates. `None` for row-major and column-major order.
    leading: Option<GlobalOrder>,
    /// The dimensions from the most to the least significant.
    dimensions: Vec<usize>,
    /// The physical type of each dimension. `None` for strings.
    physical: Vec<Option<PhysicalType>>,
    packing: Packing,
}

/// Columns of a tile for [`CellOrder::compare`].
#[derive(Debug)]
pub struct CellColumns {
    /// The leading words that do not fit into the key.
    words: Vec<Vec<u64>>,
    coordinates: Vec<Coordinates>,
}

impl CellColumns {
    /// Returns the columns of the cells with these indices.
    pub fn of_cells(&self, cells: &[u32]) -> Self {
        let words = self.words.iter().map(|words| cells.iter().map(|cell| words[*cell as usize]).collect());
        let coordinates = self.coordinates.iter().map(|coordinates| coordinates.of_cells(cells));
        Self { words: words.collect(), coordinates: coordinates.collect() }
    }

    /// Returns the columns of coordinates.
    pub fn into_coordinates(self) -> Vec<Coordinates> {
        self.coordinates
    }

    /// Returns the memory of the columns, in bytes.
    pub fn memory(&self) -> usize {
        let words: usize = self.words.iter().map(|words| 8 * words.len()).sum();
        words + self.coordinates.iter().map(Coordinates::memory).sum::<usize>()
    }
}

impl CellOrder {
    /// Creates the order of cells with coordinates in `bounds`: a range per dimension,
    /// [widened](tdb_rtree::NdRange::widened).
    ///
    /// # Errors
    /// [`CellsError::Schema`] if the Hilbert order does not support the number of dimensions.
    pub fn new(schema: &ArraySchema, order: Order, bounds: &[DimRange]) -> Result<Self> {
        let count = schema.dim_count();
        let leading = match order {
            Order::Global | Order::Unordered => Some(global_order(schema)?),
            Order::RowMajor | Order::ColMajor => None,
        };
        let dimensions = match (&leading, order) {
            (Some(global), _) => global.cell_dimensions().to_vec(),
            (None, Order::ColMajor) => (0..count).rev().collect(),
            (None, _) => (0..count).collect(),
        };
        let physical = schema.dimensions().iter().map(|d| (!d.is_var()).then(|| d.physical())).collect();
        let mut order = Self { leading, dimensions, physical, packing: Packing::default() };
        order.packing = Packing::of(order.parts(schema, bounds), bounds);
        Ok(order)
    }

    /// Returns the number of bits of a key.
    pub fn bits(&self) -> u32 {
        self.packing.bits
    }

    /// Returns `true` if equal keys imply equal coordinates.
    pub fn is_exact(&self) -> bool {
        self.packing.exact
    }

    /// Returns all compared values, each with its minimum and maximum.
    fn parts(&self, schema: &ArraySchema, bounds: &[DimRange]) -> Vec<(Part, u64, u64)> {
        let mut parts = self.words(bounds);
        let tiled = self.leading.as_ref().map(GlobalOrder::tile_dimensions).unwrap_or_default();
        for &dimension in &self.dimensions {
            let DimRange::Fixed { lo, hi } = bounds[dimension] else {
                parts.push((Part::Text { dimension, skip: 0 }, 0, u64::MAX));
                continue;
            };
            let (lo, hi) = (self.comparable(dimension, lo), self.comparable(dimension, hi));
            let space = &schema.dimensions()[dimension];
            match space.domain_keys().zip(space.extent_cells()) {
                // The leading words already identify the tile. The distance from the tile's low end
                // suffices.
                Some(((low, _), extent)) if tiled.contains(&dimension) && extent - 1 < hi.saturating_sub(lo) => {
                    let tiling = space.tiling();
                    parts.push((Part::Offset { dimension, low, extent, tiling }, 0, extent - 1));
                }
                _ => parts.push((Part::Coordinate(dimension), lo, hi.max(lo))),
            }
        }
        let signs = self.physical.iter().zip(bounds).enumerate();
        parts.extend(signs.filter_map(|(dimension, (physical, range))| {
            let positive = positive_zero((*physical)?)?;
            let zero = matches!(range, DimRange::Fixed { lo, hi } if *lo <= positive && *hi >= positive - 1);
            zero.then_some((Part::ZeroSign { dimension, positive }, 0, 1))
        }));
        parts
    }

    fn words(&self, bounds: &[DimRange]) -> Vec<(Part, u64, u64)> {
        let Some(global) = &self.leading else { return Vec::new() };
        let corners: Vec<_> = bounds.iter().map(Coordinates::of_bounds).collect();
        let columns: Vec<_> = corners.iter().map(Coordinates::column).collect();
        let bounds_of = |word| {
            let mut ends = Vec::with_capacity(2);
            global.leading_word(word, &columns, &mut ends);
            match ends[..] {
                // The first word of a tile grows with each coordinate. Lower words start again with
                // each change of the first word.
                [min, max] if word == 0 && global.hilbert().is_none() => (Part::Word(word), min, max.max(min)),
                _ => (Part::Word(word), 0, u64::MAX),
            }
        };
        (0..global.leading_word_count()).map(bounds_of).collect()
    }

    /// Compares two cells with equal keys.
    pub fn compare(&self, a: (&CellColumns, usize), b: (&CellColumns, usize)) -> Ordering {
        let words = a.0.words.iter().zip(&b.0.words).map(|(x, y)| x[a.1].cmp(&y[b.1]));
        let ordered =
            self.dimensions.iter().map(|&dimension| match (&a.0.coordinates[dimension], &b.0.coordinates[dimension]) {
                (Coordinates::Keys(x), Coordinates::Keys(y)) => {
                    self.comparable(dimension, x[a.1]).cmp(&self.comparable(dimension, y[b.1]))
                }
                (x, y) => x.string(a.1).cmp(y.string(b.1)),
            });
        // Zeros of both signs have the same position, but are different coordinates.
        let identity = a.0.coordinates.iter().zip(&b.0.coordinates).map(|pair| match pair {
            (Coordinates::Keys(x), Coordinates::Keys(y)) => x[a.1].cmp(&y[b.1]),
            _ => Ordering::Equal,
        });
        words.chain(ordered).chain(identity).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// Returns the columns of a tile with these coordinates, for [`compare`](Self::compare).
    pub fn columns(&self, coordinates: Vec<Coordinates>) -> CellColumns {
        let columns: Vec<_> = coordinates.iter().map(Coordinates::column).collect();
        let words = self.leading.iter().flat_map(|global| {
            let columns = &columns;
            (self.packing.words..global.leading_word_count()).map(move |word| {
                let mut words = Vec::new();
                global.leading_word(word, columns, &mut words);
                words
            })
        });
        CellColumns { words: words.collect(), coordinates }
    }

    /// Returns the key. Maps the key of `-0.0` to the key of `0.0`.
    fn comparable(&self, dimension: usize, key: u64) -> u64 {
        let mut key = [key];
        if let Some(Some(physical)) = self.physical.get(dimension) {
            make_comparable(*physical, &mut key);
        }
        key[0]
    }
}

/// Returns the global order of an array.
///
/// # Errors
/// [`CellsError::Schema`] if the Hilbert order does not support the number of dimensions.
pub fn global_order(schema: &ArraySchema) -> Result<GlobalOrder> {
    GlobalOrder::new(schema).map_err(CellsError::Schema)
}

/// Returns the key of `0.0`, or `None` for integers. The key of `-0.0` is smaller by 1.
fn positive_zero(physical: PhysicalType) -> Option<u64> {
    match physical {
        PhysicalType::F32 => Some(Scalar::F32(0.0).key()),
        PhysicalType::F64 => Some(Scalar::F64(0.0).key()),
        _ => None,
    }
}
