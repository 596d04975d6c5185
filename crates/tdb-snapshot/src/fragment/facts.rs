//! Properties of a fragment derived from the footer.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use tdb_cells::Coordinate;
use tdb_fragment::{DenseGrid, Tiles};
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::Dimension;
use tdb_types::{ArrayType, Feature};

use super::Fragment;
use crate::{Result, TimeRange};

impl Fragment {
    /// Returns the type of the fragment. A dense array may have sparse fragments from old releases.
    #[must_use]
    pub fn array_type(&self) -> ArrayType {
        if self.footer().is_dense() { ArrayType::Dense } else { ArrayType::Sparse }
    }

    /// Returns the range of times at which the cells were written. A single time, unless the cells
    /// were consolidated.
    #[must_use]
    pub fn time(&self) -> TimeRange {
        TimeRange { start: self.name().start(), end: self.name().end() }
    }

    /// Returns the number of cells written. In a dense fragment, counts the cells in the non-empty
    /// domain. In a sparse fragment, counts all cells, including deleted cells and duplicate
    /// coordinates.
    #[must_use]
    pub fn cell_count(&self) -> u64 {
        self.footer().tiles().visible_cell_count()
    }

    /// Returns the number of written cells in one tile. Returns `None` if the tile does not exist.
    #[must_use]
    pub fn cells_in_tile(&self, tile: u64) -> Option<u64> {
        self.footer().tiles().visible_cells_in(tile)
    }

    /// Returns `true` if each cell has a write timestamp, because cells of several times were
    /// consolidated.
    #[must_use]
    pub fn has_cell_times(&self) -> bool {
        self.footer().header().has_timestamps
    }

    /// Returns the file name of the fragment's schema.
    #[must_use]
    pub fn schema_name(&self) -> &str {
        &self.footer().header().schema_name
    }

    /// Returns the first and last coordinate of the non-empty domain, for each dimension. Returns
    /// `None` if the fragment has no cells.
    #[must_use]
    pub fn non_empty_coordinates(&self) -> Option<Vec<RangeInclusive<Coordinate>>> {
        Some(Coordinate::of_box(self.schema(), self.non_empty_domain()?))
    }

    /// Returns the MBR of a tile: the minimum and maximum coordinate for each dimension. A sparse
    /// fragment stores the MBR. In a dense fragment, the MBR is the intersection of the tile with
    /// the non-empty domain. Returns `None` if the tile does not exist.
    ///
    /// A query accepts each range unchanged.
    ///
    /// ```
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-sparse-2d/array");
    /// let array = tdb_snapshot::Snapshot::open(folder)?;
    /// let mbr = array.fragments()?[0].mbr(0)?.expect("the fragment has cells");
    /// for (dimension, range) in array.schema().dimensions().iter().zip(mbr) {
    ///     println!("{}: {} to {}", dimension.name(), range.start(), range.end());
    /// }
    /// # Ok::<(), tdb_snapshot::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// The R-tree cannot be read.
    pub fn mbr(&self, tile: u64) -> Result<Option<Vec<RangeInclusive<Coordinate>>>> {
        let mbr = match self.footer().tiles() {
            Tiles::Dense(grid) => self.dense_box(grid, tile),
            _ => self.rtree()?.mbr(tile),
        };
        Ok(mbr.map(|mbr| Coordinate::of_box(self.schema(), &mbr)))
    }

    /// Returns a box around all cells of a tile. Returns `None` if the tile does not exist, or the
    /// R-tree cannot be read.
    pub fn tile_box(&self, tile: u64) -> Option<NdRange> {
        match self.footer().tiles() {
            Tiles::Dense(grid) => self.dense_box(grid, tile),
            _ => self.rtree().ok()?.bounds(tile),
        }
    }

    /// Returns a box around all cells. Widens string ranges that some format versions may have
    /// stored incorrectly. Returns `None` if the fragment has no cells.
    #[must_use]
    pub fn bounds(&self) -> Option<Cow<'_, NdRange>> {
        let domain = self.non_empty_domain()?;
        let begins_empty = |range: &DimRange| matches!(range, DimRange::Var { lo, .. } if lo.is_empty());
        if !self.footer().version().has(Feature::UncertainStringRanges) || !domain.0.iter().any(begins_empty) {
            return Some(Cow::Borrowed(domain));
        }
        let known = |range: &DimRange| if begins_empty(range) { DimRange::strings_from("") } else { range.clone() };
        Some(Cow::Owned(NdRange(domain.0.iter().map(known).collect())))
    }

    /// Returns the intersection of a dense tile with the non-empty domain. Returns `None` if the
    /// tile does not exist.
    fn dense_box(&self, grid: &DenseGrid, tile: u64) -> Option<NdRange> {
        let along = |(index, dimension): (usize, &Dimension)| {
            let (low, _) = dimension.domain_keys()?;
            let extent = u128::from(dimension.extent_cells()?);
            let first = u128::from(low) + u128::from(grid.tile_index(tile, index)?) * extent;
            // The last tile may end beyond the maximum key.
            let hi = u64::try_from(first + extent - 1).unwrap_or(u64::MAX);
            Some(DimRange::Fixed { lo: u64::try_from(first).ok()?, hi })
        };
        let whole = self.schema().dimensions().iter().enumerate().map(along).collect::<Option<_>>()?;
        NdRange(whole).intersection(self.non_empty_domain()?)
    }
}
