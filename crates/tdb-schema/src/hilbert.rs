//! The Hilbert curve through the domain of a sparse array.
//!
//! In arrays with Hilbert cell order, cells are sorted by their position along a Hilbert curve.
//! Each coordinate is first scaled to a *bucket* of `63 / dimensions` bits. Skilling's transform
//! ("Programming the Hilbert curve", 2004) combines the buckets into one number, the Hilbert value.
//! Cells with equal values are sorted by their coordinates.
//!
//! ```
//! use tdb_schema::hilbert::{CoordinateColumn, HilbertCurve};
//! use tdb_schema::{Dimension, SchemaBuilder};
//! use tdb_types::{Layout, Scalar};
//!
//! let side = |name| Dimension::new(name, 0i32..=i32::MAX - 1);
//! let schema = SchemaBuilder::sparse().cell_order(Layout::Hilbert).dimension(side("x")).dimension(side("y")).build()?;
//!
//! let curve = HilbertCurve::new(schema.domain())?;
//! let keys = |values: &[i32]| values.iter().map(|value| Scalar::I32(*value).key()).collect::<Vec<_>>();
//! let (x, y) = (keys(&[0, 1, i32::MAX - 1]), keys(&[0, 1, 0]));
//! let mut values = Vec::new();
//! curve.values(&[CoordinateColumn::Keys(&x), CoordinateColumn::Keys(&y)], &mut values);
//! assert_eq!(values, [0, 2, (1 << 62) - 1]);
//! # Ok::<(), tdb_schema::SchemaError>(())
//! ```

mod axis;
mod block;
mod column;
mod ends;
mod lanes;
mod transform;

pub use column::CoordinateColumn;

use axis::Axis;
use block::{BLOCK, MOST_DIMENSIONS};
use transform::Transform;

use crate::error::Result;
use crate::{Domain, SchemaError};

/// The number of bits of a Hilbert value.
const VALUE_BITS: u32 = 63;
/// The Hilbert curve of a domain, which maps the coordinates of cells to positions along the curve.
#[derive(Clone, Debug)]
pub struct HilbertCurve {
    axes: Vec<Axis>,
    bits: u32,
    transform: Transform,
    /// The transform of the highest bits only.
    short: Transform,
}

impl HilbertCurve {
    /// Creates the curve through `domain`.
    ///
    /// # Errors
    /// Fails if the domain has no dimensions or more than 16.
    pub fn new(domain: &Domain) -> Result<Self> {
        let count = domain.dimensions().len();
        if count == 0 || count > MOST_DIMENSIONS {
            let why = format!("found {count} dimensions, expected 1 to {MOST_DIMENSIONS}");
            return Err(SchemaError::invalid("hilbert curve", why));
        }
        let bits = VALUE_BITS / u32::try_from(count).unwrap_or(VALUE_BITS);
        let axes = domain.dimensions().iter().map(|dimension| Axis::new(dimension, bits)).collect();
        let needed = domain.dimensions().iter().map(Axis::telling_bits).max().unwrap_or(bits);
        let (transform, short) = (Transform::new(count, bits), Transform::short(count, bits, needed));
        Ok(Self { axes, bits, transform, short })
    }

    /// Returns the number of bits per bucket: 63 divided by the number of dimensions, rounded down.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Appends the Hilbert value of each cell to `values`.
    ///
    /// `columns` holds the coordinates, one column per dimension, in schema order. The shortest
    /// column determines the number of cells. If a column is missing, there are no cells. A column
    /// of the wrong kind (strings for a numeric dimension, or the reverse) counts as all-zero
    /// buckets.
    pub fn values(&self, columns: &[CoordinateColumn<'_>], values: &mut Vec<u64>) {
        self.values_by(&self.transform, columns, values);
    }

    fn values_by(&self, transform: &Transform, columns: &[CoordinateColumn<'_>], values: &mut Vec<u64>) {
        let cells = columns.iter().zip(&self.axes).map(|(column, axis)| column.len(axis.size())).min().unwrap_or(0);
        let cells = if columns.len() < self.axes.len() { 0 } else { cells };
        values.reserve(cells);
        let mut buckets = vec![[0; BLOCK]; self.axes.len()];
        let mut block = [0; BLOCK];
        for start in (0..cells).step_by(BLOCK) {
            let len = BLOCK.min(cells - start);
            for ((axis, column), buckets) in self.axes.iter().zip(columns).zip(&mut buckets) {
                axis.buckets(column, start, &mut buckets[..len]);
            }
            transform.apply(&mut buckets, &mut block);
            values.extend_from_slice(&block[..len]);
        }
    }

    /// Appends the high bits of the Hilbert value of each cell to `values`, with columns as in
    /// [`values`](Self::values).
    ///
    /// This takes a fraction of the time of [`values`](Self::values). Only cells very close to each
    /// other get the same prefix.
    pub fn prefixes(&self, columns: &[CoordinateColumn<'_>], values: &mut Vec<u64>) {
        self.values_by(&self.short, columns, values);
    }

    /// Returns the Hilbert value of one cell with the given buckets. Missing buckets count as 0.
    #[must_use]
    pub fn value_of_buckets(&self, buckets: &[u64]) -> u64 {
        let mut axes = [0; MOST_DIMENSIONS];
        for (to, from) in axes.iter_mut().zip(buckets) {
            *to = *from;
        }
        transform::value(&mut axes[..self.axes.len()], self.bits)
    }
}

#[cfg(test)]
mod tests;
