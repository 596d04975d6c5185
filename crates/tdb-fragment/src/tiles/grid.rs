//! The tiles of a dense fragment.

use tdb_rtree::DimRange;
use tdb_schema::{ArraySchema, Dimension};
use tdb_types::Layout;

use super::check_dense;
use crate::error::{FragmentError, Result};
use crate::header::FooterHeader;

/// The tiles of a dense fragment: all tiles of the array's grid that overlap the fragment's
/// non-empty domain. The fragment stores whole tiles.
///
/// Tiles are numbered within the fragment, in the schema's tile order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenseGrid {
    dimensions: Vec<GridDimension>,
    order: Layout,
    tile_count: u64,
    cells_per_tile: u64,
}

/// A dimension of a [`DenseGrid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridDimension {
    /// The index of the fragment's first tile in the array's grid.
    pub first: u64,
    /// The number of tiles along the dimension, at least 1.
    pub count: u64,
    /// The difference in tile number between neighbors along the dimension.
    pub stride: u64,
    /// The number of cells of a tile along the dimension.
    pub extent: u64,
    /// The number of cells along the dimension that the first tile has before the non-empty domain.
    pub before: u64,
    /// The number of cells along the dimension that the last tile has after the non-empty domain.
    pub behind: u64,
}

impl GridDimension {
    /// Returns the number of cells along the dimension that are inside the non-empty domain.
    fn visible(&self) -> u64 {
        // `DenseGrid::new` has checked the product of all dimensions.
        self.count.saturating_mul(self.extent).saturating_sub(self.before + self.behind)
    }

    /// Returns the number of cells along the dimension that the tile at `position` has inside the
    /// non-empty domain. Positions count from the fragment's first tile.
    fn visible_at(&self, position: u64) -> u64 {
        let before = if position == 0 { self.before } else { 0 };
        let behind = if position == self.count - 1 { self.behind } else { 0 };
        self.extent.saturating_sub(before + behind)
    }
}

impl DenseGrid {
    pub(super) fn new(header: &FooterHeader, schema: &ArraySchema) -> Result<Self> {
        check_dense(schema)?;
        let Some(domain) = &header.non_empty_domain else {
            return Err(FragmentError::inconsistent(
                "non-empty domain",
                "none",
                "a domain, since the fragment is dense",
            ));
        };
        let dimensions = schema.domain().dimensions();
        if domain.0.len() != dimensions.len() {
            let expected = format!("{}, one per dimension", dimensions.len());
            return Err(FragmentError::inconsistent(
                "non-empty domain",
                format!("{} ranges", domain.0.len()),
                expected,
            ));
        }
        let ranges = dimensions.iter().zip(&domain.0);
        let mut grid: Vec<_> = ranges.map(|(dimension, range)| along(dimension, range)).collect::<Result<_>>()?;

        let order = schema.tile_order();
        let mut tile_count = 1u64;
        let fastest_first: &mut dyn Iterator<Item = &mut GridDimension> =
            if order == Layout::ColMajor { &mut grid.iter_mut() } else { &mut grid.iter_mut().rev() };
        for dimension in fastest_first {
            dimension.stride = tile_count;
            tile_count = product("tiles of the fragment", tile_count, dimension.count)?;
        }
        let cells_per_tile = dimensions
            .iter()
            .try_fold(1, |cells, dimension| product("cells of a tile", cells, dimension.extent_cells().unwrap_or(0)))?;
        product("cells of the fragment", tile_count, cells_per_tile)?;
        Ok(Self { dimensions: grid, order, tile_count, cells_per_tile })
    }

    /// Returns the grid along each dimension.
    #[must_use]
    pub fn dimensions(&self) -> &[GridDimension] {
        &self.dimensions
    }

    /// Returns the order of the tile numbers.
    #[must_use]
    pub fn order(&self) -> Layout {
        self.order
    }

    /// Returns the number of tiles.
    #[must_use]
    pub fn tile_count(&self) -> u64 {
        self.tile_count
    }

    /// Returns the number of cells per tile, which also applies to tiles at the edge of the domain.
    #[must_use]
    pub fn cells_per_tile(&self) -> u64 {
        self.cells_per_tile
    }

    /// Returns the number, within the fragment, of the tile at these indices of the array's grid.
    ///
    /// Returns `None` if the fragment does not have the tile.
    #[must_use]
    pub fn index_of(&self, tile: &[u64]) -> Option<u64> {
        if tile.len() != self.dimensions.len() {
            return None;
        }
        self.dimensions.iter().zip(tile).try_fold(0, |number, (dimension, &index)| {
            let along = index.checked_sub(dimension.first)?;
            (along < dimension.count).then(|| number + along * dimension.stride)
        })
    }

    /// Returns the index of a tile in the array's grid, along one dimension.
    ///
    /// Returns `None` if the tile or the dimension does not exist.
    #[must_use]
    pub fn tile_index(&self, tile: u64, dimension: usize) -> Option<u64> {
        let dimension = self.dimensions.get(dimension)?;
        (tile < self.tile_count).then(|| dimension.first + tile / dimension.stride % dimension.count)
    }

    /// Returns the number of a tile's cells that are inside the non-empty domain, or `None` if the
    /// tile does not exist.
    #[must_use]
    pub fn visible_cells_in(&self, tile: u64) -> Option<u64> {
        let along = |dimension: &GridDimension| dimension.visible_at(tile / dimension.stride % dimension.count);
        (tile < self.tile_count).then(|| self.dimensions.iter().map(along).product())
    }

    /// Returns the number of cells in the non-empty domain.
    #[must_use]
    pub fn visible_cell_count(&self) -> u64 {
        self.dimensions.iter().map(GridDimension::visible).product()
    }
}

/// Returns the tiles that a range overlaps along a dimension.
fn along(dimension: &Dimension, range: &DimRange) -> Result<GridDimension> {
    let outside = |found: String, expected: String| {
        Err(FragmentError::inconsistent(
            "non-empty domain",
            format!("{found} along dimension {:?}", dimension.name()),
            expected,
        ))
    };
    let (&DimRange::Fixed { lo, hi }, Some((domain_lo, domain_hi)), Some(extent)) =
        (range, dimension.domain_keys(), dimension.extent_cells())
    else {
        return outside(
            "a range of other values than integers".to_owned(),
            "a domain, since the fragment is dense".to_owned(),
        );
    };
    if lo > hi || lo < domain_lo || extent == 0 {
        return outside(format!("keys {lo} to {hi}"), format!("a range in the domain from key {domain_lo}"));
    }
    // Consolidation by old releases extended the non-empty domain to the end of its last tile, even
    // beyond the domain.
    let last_tile = domain_hi.saturating_sub(domain_lo) / extent;
    let (first, last) = ((lo - domain_lo) / extent, (hi - domain_lo) / extent);
    let (before, behind) = ((lo - domain_lo) % extent, extent - 1 - (hi - domain_lo) % extent);
    if last > last_tile {
        return outside(format!("keys {lo} to {hi}"), format!("a range in the tiles of the domain to key {domain_hi}"));
    }
    // A count of 2^64 tiles of a single cell would overflow.
    let count = product_sum(last - first)?;
    Ok(GridDimension { first, count, stride: 0, extent, before, behind })
}

fn product_sum(distance: u64) -> Result<u64> {
    distance.checked_add(1).ok_or_else(|| FragmentError::inconsistent("tiles of the fragment", "2^64", "fewer"))
}

fn product(what: &'static str, a: u64, b: u64) -> Result<u64> {
    a.checked_mul(b).ok_or_else(|| FragmentError::inconsistent(what, format!("{a} times {b}"), "fewer than 2^64"))
}
