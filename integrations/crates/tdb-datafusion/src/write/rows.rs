//! Verification that rows cover every cell of a subarray exactly once.

use datafusion::error::{DataFusionError, Result};
use tdb_array::tdb_schema::ArraySchema;

use crate::error;

/// State of the received rows, which are in row-major order, and of the subarray that they form.
#[derive(Debug)]
pub(super) struct BoxRows {
    uri: String,
    names: Vec<String>,
    /// Start of the first dimension's domain, and its tile extent.
    tiles: (i128, i128),
    /// Coordinates of the first row, and of the last row so far.
    first: Vec<i128>,
    last: Vec<i128>,
    /// Last coordinate per dimension. `None` until an earlier dimension has advanced.
    ends: Vec<Option<i128>>,
    /// First coordinate of the held rows on the first dimension.
    start: i128,
    /// Number of held rows.
    held: usize,
    /// Number of held rows in complete tiles of the first dimension, and the last coordinate of
    /// these rows on that dimension.
    complete: (usize, i128),
}

impl BoxRows {
    /// Creates an empty state.
    pub(super) fn new(uri: &str, schema: &ArraySchema) -> Self {
        let dimensions = schema.dimensions();
        let tiles = dimensions.first().map_or((0, 1), |dimension| {
            let origin = dimension.domain().and_then(|(low, _)| low.to_integer());
            (origin.unwrap_or(0), dimension.extent_cells().map_or(1, i128::from).max(1))
        });
        Self {
            uri: uri.to_owned(),
            names: dimensions.iter().map(|dimension| dimension.name().to_owned()).collect(),
            tiles,
            first: Vec::new(),
            last: Vec::new(),
            ends: vec![None; dimensions.len()],
            start: 0,
            held: 0,
            complete: (0, 0),
        }
    }

    /// Returns the number of held rows.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Returns the number of held rows in tiles that get no more rows.
    pub(super) fn complete(&self) -> usize {
        self.complete.0
    }

    /// Adds rows, given as coordinates by dimension.
    ///
    /// # Errors
    /// A row does not continue the subarray.
    pub(super) fn follow(&mut self, coordinates: &[Vec<i128>]) -> Result<()> {
        let count = coordinates.first().map_or(0, Vec::len);
        for row in 0..count {
            let at = |dimension: usize| coordinates[dimension][row];
            if self.last.is_empty() {
                self.first = (0..coordinates.len()).map(at).collect();
                self.start = at(0);
            } else {
                self.step(&at)?;
                if at(0) != self.last[0] && self.tile(at(0)) != self.tile(self.last[0]) {
                    self.complete = (self.held, self.last[0]);
                }
            }
            self.last.clear();
            self.last.extend((0..coordinates.len()).map(at));
            self.held += 1;
        }
        Ok(())
    }

    fn tile(&self, coordinate: i128) -> i128 {
        (coordinate - self.tiles.0).div_euclid(self.tiles.1)
    }

    /// Checks the successor of a row: a coordinate advances by 1, and the later coordinates
    /// restart.
    fn step(&mut self, at: &impl Fn(usize) -> i128) -> Result<()> {
        let dimensions = self.last.len();
        let Some(moved) = (0..dimensions).find(|dimension| at(*dimension) != self.last[*dimension]) else {
            return Err(self.wrong(&format!("{} is repeated", self.place(&self.last))));
        };
        let is_next = at(moved) == self.last[moved] + 1 && self.ends[moved] != Some(self.last[moved]);
        let behind = moved + 1..dimensions;
        let begins_anew = behind.clone().all(|dimension| at(dimension) == self.first[dimension]);
        let is_whole =
            behind.clone().all(|dimension| self.ends[dimension].is_none_or(|end| end == self.last[dimension]));
        if !(is_next && begins_anew && is_whole) {
            let row: Vec<i128> = (0..dimensions).map(at).collect();
            return Err(self.wrong(&format!(
                "{} cannot follow {}: cells are missing between them, or repeated",
                self.place(&row),
                self.place(&self.last)
            )));
        }
        behind.for_each(|dimension| self.ends[dimension] = Some(self.last[dimension]));
        Ok(())
    }

    /// Checks the end of the rows.
    ///
    /// # Errors
    /// Rows are missing.
    pub(super) fn finish(&self) -> Result<()> {
        let is_whole = self.ends.iter().zip(&self.last).all(|(end, last)| end.is_none_or(|end| end == *last));
        if is_whole {
            return Ok(());
        }
        Err(self.wrong(&format!("{} is the last cell, but further cells are missing", self.place(&self.last))))
    }

    /// Removes the first `count` held rows: all, or the complete ones. Returns their subarray as
    /// the first and last coordinate per dimension.
    pub(super) fn take(&mut self, count: usize) -> Vec<(i128, i128)> {
        let last = if count == self.held { self.last[0] } else { self.complete.1 };
        let sides = self.first.iter().zip(&self.ends).zip(&self.last).skip(1);
        let sides = sides.map(|((first, end), last)| (*first, end.unwrap_or(*last)));
        let sides = [(self.start, last)].into_iter().chain(sides).collect();
        self.start = last + 1;
        self.held -= count;
        self.complete = (0, 0);
        sides
    }

    fn place(&self, coordinates: &[i128]) -> String {
        let each = self.names.iter().zip(coordinates).map(|(name, coordinate)| format!("{name} {coordinate}"));
        each.collect::<Vec<_>>().join(", ")
    }

    fn wrong(&self, what: &str) -> DataFusionError {
        error::plan(format!("{:?} is dense: INSERT needs each cell of a subarray exactly once; {what}", self.uri))
    }
}

#[cfg(test)]
mod tests {
    use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
    use tdb_array::tdb_types::{Datatype, Scalar};

    use super::*;

    /// Rows of an array with tiles of three along the first dimension.
    fn rows(dimensions: usize) -> BoxRows {
        let side = |name: &str| {
            let ends = (Scalar::I64(i64::MIN + 1), Scalar::I64(i64::MAX - 10));
            Dimension::new(name, ends.0..=ends.1).with_datatype(Datatype::Int64).with_tile(3)
        };
        let names = ["z", "y", "x"];
        let builder =
            names[3 - dimensions..].iter().fold(SchemaBuilder::dense(), |all, name| all.dimension(side(name)));
        BoxRows::new("a", &builder.attribute(Attribute::new("a", Datatype::Int8)).build().unwrap())
    }

    fn follow(rows: &mut BoxRows, cells: &[[i128; 3]]) -> Result<()> {
        rows.follow(&[0, 1, 2].map(|dimension| cells.iter().map(|cell| cell[dimension]).collect()))
    }

    fn all(z: std::ops::Range<i128>, y: std::ops::Range<i128>, x: std::ops::Range<i128>) -> Vec<[i128; 3]> {
        let rows = z.flat_map(|z| {
            y.clone().flat_map({
                let x = x.clone();
                move |y| x.clone().map(move |x| [z, y, x])
            })
        });
        rows.collect()
    }

    #[test]
    fn boxes_are_detected_for_any_batches() {
        for (z, y, x) in
            [(0..1, 0..1, 0..1), (-4..7, 5..8, 9..11), (0..1, 0..5, 0..1), (0..5, 0..1, 0..2), (3..4, 2..4, 1..9)]
        {
            let cells = all(z.clone(), y.clone(), x.clone());
            for batch in 1..cells.len() + 1 {
                let mut rows = rows(3);
                cells.chunks(batch).for_each(|cells| follow(&mut rows, cells).unwrap());
                rows.finish().unwrap();
                let found = rows.take(cells.len());
                assert_eq!(found, [(z.start, z.end - 1), (y.start, y.end - 1), (x.start, x.end - 1)]);
            }
        }
    }

    #[test]
    fn missing_or_additional_cells_are_no_box() {
        let cells = all(1..4, 0..3, 5..8);
        for left_out in 1..cells.len() {
            let mut few = cells.clone();
            few.remove(left_out);
            let mut rows = rows(3);
            let found = follow(&mut rows, &few).and_then(|()| rows.finish());
            assert!(found.is_err(), "without {:?}", cells[left_out]);
        }
        for twice in 0..cells.len() {
            let mut many = cells.clone();
            many.insert(twice, cells[twice]);
            let error = follow(&mut rows(3), &many).unwrap_err();
            assert!(error.to_string().contains("is repeated"), "{error}");
        }
        for [z, y, x] in [[1, 0, 8], [1, 1, 4], [2, 3, 5], [4, 0, 5]] {
            let mut many = cells.clone();
            many.push([z, y, x]);
            many.sort_unstable();
            let mut rows = rows(3);
            let found = follow(&mut rows, &many).and_then(|()| rows.finish());
            assert!(found.is_err(), "with {z} {y} {x}");
        }
    }

    #[test]
    fn bands_end_at_tile_ends() {
        let mut rows = rows(1);
        // Tiles start at multiples of three, counted from the start of the domain.
        let origin = i128::from(i64::MIN + 1);
        let from = origin + 4;
        let coordinates: Vec<i128> = (from..from + 7).collect();
        rows.follow(&[coordinates[..3].to_vec()]).unwrap();
        assert_eq!((rows.held(), rows.complete()), (3, 2));
        assert_eq!(rows.take(2), [(from, from + 1)]);
        assert_eq!((rows.held(), rows.complete()), (1, 0));
        rows.follow(&[coordinates[3..].to_vec()]).unwrap();
        assert_eq!((rows.held(), rows.complete()), (5, 3));
        assert_eq!(rows.take(3), [(from + 2, from + 4)]);
        rows.finish().unwrap();
        assert_eq!(rows.take(2), [(from + 5, from + 6)]);
    }
}
