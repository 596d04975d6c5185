//! Rows as a box of a dense array.

use std::ops::RangeInclusive;

use tdb_array::{Coordinate, Write};
use tdb_schema::{ArraySchema, Dimension};
use tdb_types::Scalar;

use super::cells::Cells;
use crate::failure::{Exit, Failure, Result};
use crate::range;

/// The box around rows, and whether they fill it in order.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    low: Vec<u64>,
    high: Vec<u64>,
    rows: u64,
    last: Vec<u64>,
    /// Whether each row comes after the one before it, the last dimension varying fastest.
    sorted: bool,
}

impl Bounds {
    /// Takes in the coordinates of a row, as ordered keys.
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

    /// Leaves out some rows, in whose place later ones stand.
    pub(crate) fn leave_out(&mut self, rows: u64) {
        self.rows -= rows;
    }

    /// Cells of the box; none if they are more than can be counted.
    fn volume(&self) -> Option<u64> {
        let lengths = self.low.iter().zip(&self.high).map(|(low, high)| (high - low).checked_add(1));
        lengths.into_iter().try_fold(1_u64, |volume, length| volume.checked_mul(length?))
    }

    /// Cells with the same first coordinate.
    fn slice(&self) -> u64 {
        let first = self.low.first().zip(self.high.first()).map_or(1, |(low, high)| high - low + 1);
        self.volume().unwrap_or(u64::MAX) / first
    }

    /// Checks that the rows can be a box.
    ///
    /// # Errors
    /// Cells of the box have no row, or some have more than one.
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
        let message =
            format!("{} rows are not the {cells} cells of the box {} that they lie in", self.rows, shown.join(", "));
        Err(Failure::new(Exit::Finding, message)
            .with_hint("a dense array is written in whole boxes, with one row for each cell; import it by parts"))
    }

    /// How many of so many rows of the box, read in their order, are whole slices of it and may be written on their own.
    pub(crate) fn whole_slices(&self, rows: usize) -> usize {
        match usize::try_from(self.slice()) {
            Ok(slice) if self.sorted => rows - rows % slice.max(1),
            _ => 0,
        }
    }

    /// The ranges of the write of the next `count` cells, before which `before` rows were written already; and their order, unless
    /// they are in row-major order.
    ///
    /// # Errors
    /// Two rows have the same coordinates.
    pub(crate) fn place(
        &self,
        cells: &Cells,
        count: usize,
        before: u64,
        write: Write,
        schema: &ArraySchema,
    ) -> Result<(Write, Option<Vec<usize>>)> {
        let mut ranges: Vec<(u64, u64)> = self.low.iter().copied().zip(self.high.iter().copied()).collect();
        let order = if self.sorted {
            let slice = self.slice();
            if let Some(first) = ranges.first_mut() {
                let low = first.0 + before / slice;
                *first = (low, low + count as u64 / slice - 1);
            }
            None
        } else {
            Some(order(cells, schema)?)
        };
        let mut write = write;
        for (dimension, (low, high)) in schema.dimensions().iter().zip(ranges) {
            write = write.range(dimension.name(), coordinates(dimension, low, high))?;
        }
        Ok((write, order))
    }
}

/// The cells in row-major order.
fn order(cells: &Cells, schema: &ArraySchema) -> Result<Vec<usize>> {
    let count = schema.dimensions().len();
    let (mut keys, mut of_cell) = (Vec::with_capacity(cells.len() * count), Vec::new());
    for cell in 0..cells.len() {
        cells.keys(cell, &mut of_cell);
        keys.extend_from_slice(&of_cell);
    }
    let key = |cell: usize| &keys[cell * count..(cell + 1) * count];
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_unstable_by(|a, b| key(*a).cmp(key(*b)));
    match order.windows(2).find(|pair| key(pair[0]) == key(pair[1])) {
        None => Ok(order),
        Some(pair) => {
            let shown = schema.dimensions().iter().zip(key(pair[0]));
            let shown: Vec<String> = shown
                .map(|(dimension, key)| format!("{}={}", dimension.name(), range::coordinate(dimension.kind(), *key)))
                .collect();
            // A check of all rows has found none.
            let message =
                format!("the file has changed meanwhile: two rows are for the same cell, {}", shown.join(", "));
            Err(Failure::new(Exit::Finding, message))
        }
    }
}

fn coordinates(dimension: &Dimension, low: u64, high: u64) -> RangeInclusive<Coordinate> {
    let coordinate = |key| Coordinate::from(Scalar::from_key(dimension.physical(), key));
    coordinate(low)..=coordinate(high)
}
