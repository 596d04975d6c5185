//! What a fragment is, said without its footer.

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
    /// Whether the fragment is dense or sparse: a dense array may have sparse fragments, which old releases wrote.
    #[must_use]
    pub fn array_type(&self) -> ArrayType {
        if self.footer().is_dense() { ArrayType::Dense } else { ArrayType::Sparse }
    }

    /// When its cells were written: at one time, or, of cells that were consolidated, over a range of times.
    #[must_use]
    pub fn time(&self) -> TimeRange {
        TimeRange { start: self.name().start(), end: self.name().end() }
    }

    /// How many cells were written: in a dense fragment those of its non-empty domain, in a sparse one all that it holds,
    /// deleted ones and those of equal coordinates included.
    #[must_use]
    pub fn cell_count(&self) -> u64 {
        self.footer().tiles().visible_cell_count()
    }

    /// How many of them lie in one tile; `None` if there is no such tile.
    #[must_use]
    pub fn cells_in_tile(&self, tile: u64) -> Option<u64> {
        self.footer().tiles().visible_cells_in(tile)
    }

    /// Whether each cell carries the time at which it was written, because cells of several times were consolidated.
    #[must_use]
    pub fn has_cell_times(&self) -> bool {
        self.footer().header().has_timestamps
    }

    /// The name of the file of the schema that the fragment was written with.
    #[must_use]
    pub fn schema_name(&self) -> &str {
        &self.footer().header().schema_name
    }

    /// For each dimension the first and last coordinate of the non-empty domain; `None` if the fragment has no cells.
    #[must_use]
    pub fn non_empty_coordinates(&self) -> Option<Vec<RangeInclusive<Coordinate>>> {
        Some(Coordinate::of_box(self.schema(), self.non_empty_domain()?))
    }

    /// For each dimension the least and greatest coordinate of a tile's cells, which is its MBR: in a sparse fragment as
    /// it is stored, in a dense one the part of the tile's box that lies in the non-empty domain. `None` if there is no such
    /// tile.
    ///
    /// A query takes each range as it is.
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
    /// The R-tree can't be read.
    pub fn mbr(&self, tile: u64) -> Result<Option<Vec<RangeInclusive<Coordinate>>>> {
        let mbr = match self.footer().tiles() {
            Tiles::Dense(grid) => self.dense_box(grid, tile),
            _ => self.rtree()?.mbr(tile),
        };
        Ok(mbr.map(|mbr| Coordinate::of_box(self.schema(), &mbr)))
    }

    /// A box that holds all cells of a tile; `None` if none is known.
    pub fn tile_box(&self, tile: u64) -> Option<NdRange> {
        match self.footer().tiles() {
            Tiles::Dense(grid) => self.dense_box(grid, tile),
            _ => self.rtree().ok()?.bounds(tile),
        }
    }

    /// A box that holds all cells, however wrongly the format's writers have computed the non-empty domain; `None` if none is
    /// known.
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

    /// The part of a dense tile's box that lies in the non-empty domain.
    fn dense_box(&self, grid: &DenseGrid, tile: u64) -> Option<NdRange> {
        let along = |(index, dimension): (usize, &Dimension)| {
            let (low, _) = dimension.domain_keys()?;
            let extent = u128::from(dimension.extent_cells()?);
            let first = u128::from(low) + u128::from(grid.tile_index(tile, index)?) * extent;
            // The last tile may end beyond all keys.
            let hi = u64::try_from(first + extent - 1).unwrap_or(u64::MAX);
            Some(DimRange::Fixed { lo: u64::try_from(first).ok()?, hi })
        };
        let whole = self.schema().dimensions().iter().enumerate().map(along).collect::<Option<_>>()?;
        NdRange(whole).intersection(self.non_empty_domain()?)
    }
}
