//! Placement of rows in a subarray of a dense array.

use std::ops::RangeInclusive;

use tdb_array::{Coordinate, Write};
use tdb_schema::{ArraySchema, Dimension};
use tdb_types::Scalar;

use crate::error::{Error, Result};
use crate::range;

/// The smallest subarray that contains all rows, and whether the rows are in order.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    low: Vec<u64>,
    high: Vec<u64>,
    rows: u64,
    last: Vec<u64>,
    /// `true` if the rows are in row-major order.
    pub(crate) sorted: bool,
}

impl Bounds {
    /// Adds the coordinates of a row, as ordered keys.
    pub(crate) fn add(&mut self, keys: &[u64]) {
        if self.rows == 0 {
            (self.low, self.high, self.sorted) = (keys.to_vec(), keys.to_vec(), true);
        } else {
            self.sorted &= *self.last < *keys;
            self.low.iter_mut().zip(keys).for_each(|(low, key)| *low = (*low).min(*key));
            self.high.iter_mut().zip(keys).for_each(|(high, key)| *high = (*high).max(*key));
        }
        self.rows += 1;
        self.last.clear();
        self.last.extend_from_slice(keys);
    }

    /// Subtracts a number of superseded rows from the number of rows.
    pub(crate) fn leave_out(&mut self, rows: u64) {
        self.rows -= rows;
    }

    /// Returns the number of cells of the subarray, or `None` if the number exceeds `u64`.
    fn volume(&self) -> Option<u64> {
        let lengths = self.low.iter().zip(&self.high).map(|(low, high)| (high - low).checked_add(1));
        lengths.into_iter().try_fold(1_u64, |volume, length| volume.checked_mul(length?))
    }

    /// Returns the dimension along which the subarray is cut: the first dimension with more than
    /// one coordinate.
    fn cut(&self) -> usize {
        self.low.iter().zip(&self.high).position(|(low, high)| low < high).unwrap_or(0)
    }

    /// Returns the number of cells of a slice: the cells with the same coordinate on the cut
    /// dimension.
    fn slice(&self) -> u64 {
        let cut = self.cut();
        let length = self.low.get(cut).zip(self.high.get(cut)).and_then(|(low, high)| (high - low).checked_add(1));
        self.volume().unwrap_or(u64::MAX) / length.unwrap_or(u64::MAX)
    }

    /// Returns the row-major index of the cell within the subarray, or `None` if the coordinates
    /// are outside.
    pub(crate) fn position(&self, keys: &[u64]) -> Option<u64> {
        let mut bounds = self.low.iter().zip(&self.high).zip(keys);
        bounds.try_fold(0_u64, |position, ((low, high), key)| {
            let inside = (low..=high).contains(&key).then(|| key - low)?;
            position.checked_mul((high - low).checked_add(1)?)?.checked_add(inside)
        })
    }

    /// Checks that the rows fill the subarray.
    ///
    /// # Errors
    /// Fails if the number of rows differs from the number of cells of the subarray. The rows must
    /// have distinct coordinates.
    pub(crate) fn check(&self, schema: &ArraySchema) -> Result<()> {
        if self.rows == 0 || self.volume() == Some(self.rows) {
            return Ok(());
        }
        let shown = schema.dimensions().iter().zip(self.low.iter().zip(&self.high)).map(|(dimension, (low, high))| {
            let show = |key| range::coordinate(dimension.kind(), key);
            format!("{}={}..{}", dimension.name(), show(*low), show(*high))
        });
        let shown: Vec<String> = shown.collect();
        let cells = self.volume().map_or_else(|| "more than 2^64".to_owned(), |volume| volume.to_string());
        Err(Error::NoBox { rows: self.rows, cells, ranges: shown.join(", ") })
    }

    /// Returns the number of cells to write as the next fragment, out of the next `cells` cells in
    /// row-major order. `before` cells precede these cells. A fragment consists of complete slices,
    /// and ends at a tile boundary if the slices contain one.
    pub(crate) fn whole_slices(&self, before: u64, cells: usize, schema: &ArraySchema) -> usize {
        let (cut, slice) = (self.cut(), self.slice().max(1));
        let (slices, done) = (cells as u64 / slice, before / slice);
        let Some((low, high)) = self.low.get(cut).copied().zip(self.high.get(cut).copied()) else { return 0 };
        if slices == 0 {
            return 0;
        }
        let (first, last) = (low + done, low + done + slices - 1);
        let tile = schema.dimensions().get(cut).and_then(|dimension| dimension.tile_range(dimension.tile_index(last)));
        let slices = match tile {
            Some((start, end)) if last < end.min(high) && start > first => start - first,
            _ => slices,
        };
        tdb_types::saturating_len(slices * slice)
    }

    /// Sets the ranges of a write of the next `count` cells, which must be complete slices after
    /// the first `before` cells.
    ///
    /// # Errors
    /// Fails if the array does not have such a range.
    pub(crate) fn place(&self, count: usize, before: u64, write: Write, schema: &ArraySchema) -> Result<Write> {
        let mut ranges: Vec<(u64, u64)> = self.low.iter().copied().zip(self.high.iter().copied()).collect();
        let slice = self.slice().max(1);
        if let Some(range) = ranges.get_mut(self.cut()) {
            let low = range.0 + before / slice;
            *range = (low, low + (count as u64 / slice).max(1) - 1);
        }
        let mut write = write;
        for (dimension, (low, high)) in schema.dimensions().iter().zip(ranges) {
            write = write.range(dimension.name(), coordinates(dimension, low, high))?;
        }
        Ok(write)
    }
}

fn coordinates(dimension: &Dimension, low: u64, high: u64) -> RangeInclusive<Coordinate> {
    let coordinate = |key| Coordinate::from(Scalar::from_key(dimension.physical(), key));
    coordinate(low)..=coordinate(high)
}
