//! Slices of dense regions.

use tdb_cells::CellsError;
use tdb_fragment::DenseGrid;
use tdb_rtree::{DimRange, NdRange};
use tdb_snapshot::Result;
use tdb_types::Layout;

use crate::target::Target;

/// The slices of a dense region. A slice consists of all tiles at one index along the slowest
/// dimension of the tile order. Fragments end between slices, because a fragment must be a box.
#[derive(Debug)]
pub(super) struct Slices {
    pub(super) region: NdRange,
    grid: DenseGrid,
    /// The slowest dimension.
    dimension: usize,
    /// Tiles per slice.
    pub(super) tiles: u64,
    /// First slice of the current fragment.
    first: u64,
    /// Number of tiles written, in all fragments.
    pub(super) written: u64,
    /// Bytes of the data files at the start of the current slice.
    pub(super) size_before: u64,
}

impl Slices {
    pub(super) fn new(target: &Target, region: NdRange) -> Result<Self> {
        let schema = &target.schema;
        for (dimension, range) in schema.dimensions().iter().zip(&region.0) {
            let (DimRange::Fixed { lo, hi }, Some((low, _)), Some(extent)) =
                (range, dimension.domain_keys(), dimension.extent_cells())
            else {
                continue;
            };
            let whole = (lo - low).is_multiple_of(extent) && (u128::from(hi - low) + 1).is_multiple_of(extent.into());
            if !whole {
                let range = range.display(dimension.kind()).to_string();
                let why = format!("global order requires whole tiles of {extent} cells");
                return Err(CellsError::Range { dimension: dimension.name().to_owned(), range, why }.into());
            }
        }
        let grid = target.dense_grid(&region)?;
        let dimension = if schema.tile_order() == Layout::ColMajor { schema.dim_count() - 1 } else { 0 };
        let tiles = grid.tile_count() / grid.dimensions()[dimension].count;
        Ok(Self { region, grid, dimension, tiles, first: 0, written: 0, size_before: 0 })
    }

    /// Returns the region of the current fragment, and starts the next fragment after it.
    pub(super) fn end(&mut self, target: &Target) -> NdRange {
        let next = self.written / self.tiles;
        let mut region = self.region.clone();
        let along = &self.grid.dimensions()[self.dimension];
        let low = target.schema.dimensions()[self.dimension].domain_keys().map_or(0, |(low, _)| low);
        if let Some(range) = region.0.get_mut(self.dimension) {
            let start = low + (along.first + self.first) * along.extent;
            let end = low + (along.first + next - 1) * along.extent + (along.extent - 1);
            *range = DimRange::Fixed { lo: start, hi: end };
        }
        self.first = next;
        region
    }
}
