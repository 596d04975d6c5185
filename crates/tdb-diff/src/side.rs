//! The cells of one of the arrays, one after the other.

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
    /// The next cell of the batch.
    at: usize,
}

impl Side {
    /// The cells of an array, with the fields of these names; of a dense one, those of a box as far as it lies in its domain.
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

    /// The batch that has the next cell, and where; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(&Batch, usize)>> {
        while self.batch.as_ref().is_none_or(|batch| self.at >= batch.len()) {
            // What was compared isn't needed any more when more is read.
            self.batch = None;
            self.at = 0;
            match self.batches.as_mut().and_then(Iterator::next).transpose()? {
                Some(batch) => self.batch = Some(batch),
                None => return Ok(None),
            }
        }
        Ok(self.batch.as_ref().map(|batch| (batch, self.at)))
    }

    /// Goes on behind so many cells of the batch.
    pub(super) fn pass(&mut self, cells: usize) {
        self.at += cells;
    }
}

/// The part of a box that lies in a schema's domain, by dimension.
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
