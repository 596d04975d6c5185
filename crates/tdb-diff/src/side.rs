//! The cells of one array, as an iterator.

use tdb_array::{Array, Batch, Batches, Coordinate, Order};
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::ArraySchema;
use tdb_types::Scalar;

use tdb_job::Result;

/// The cells of an array in row-major order.
#[derive(Debug)]
pub(super) struct Side {
    batches: Option<Batches>,
    batch: Option<Batch>,
    /// Position of the next cell in the batch.
    at: usize,
}

impl Side {
    /// Reads the given fields of an array. Reads a dense array only in the intersection of the
    /// subarray and the domain.
    pub(super) fn new(
        array: &Array,
        fields: &[String],
        within: Option<&NdRange>,
        budget: Option<usize>,
    ) -> Result<Self> {
        let mut query = array.read().order(Order::RowMajor).select(fields)?;
        if let Some(bytes) = budget {
            query = query.budget(bytes);
        }
        if let (true, Some(within)) = (array.schema().is_dense(), within) {
            let Some(ranges) = ranges_within(array.schema(), within) else {
                return Ok(Self { batches: None, batch: None, at: 0 });
            };
            for (name, low, high) in ranges {
                query = query.range(&name, low..=high)?;
            }
        }
        Ok(Self { batches: Some(query.batches()?), batch: None, at: 0 })
    }

    /// Returns the batch and position of the next cell. Returns `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(&Batch, usize)>> {
        while self.batch.as_ref().is_none_or(|batch| self.at >= batch.len()) {
            // Frees the compared batch before the next read.
            self.batch = None;
            self.at = 0;
            match self.batches.as_mut().and_then(Iterator::next).transpose()? {
                Some(batch) => self.batch = Some(batch),
                None => return Ok(None),
            }
        }
        Ok(self.batch.as_ref().map(|batch| (batch, self.at)))
    }

    /// Skips cells of the batch.
    pub(super) fn pass(&mut self, cells: usize) {
        self.at += cells;
    }
}

/// Intersects a subarray with the domain, dimension by dimension. Returns `None` if the
/// intersection is empty.
fn ranges_within(schema: &ArraySchema, within: &NdRange) -> Option<Vec<(String, Coordinate, Coordinate)>> {
    let ranges = schema.dimensions().iter().zip(&within.0).map(|(dimension, range)| {
        let (low, high) = dimension.domain_keys()?;
        let DimRange::Fixed { lo, hi } = range else { return None };
        let (low, high) = (low.max(*lo), high.min(*hi));
        let coordinate = |key: u64| Coordinate::from(Scalar::from_key(dimension.physical(), key));
        (low <= high).then(|| (dimension.name().to_owned(), coordinate(low), coordinate(high)))
    });
    ranges.collect()
}
