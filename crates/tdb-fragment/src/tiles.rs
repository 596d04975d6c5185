//! The division of a fragment's cells into tiles.

mod grid;

use tdb_schema::ArraySchema;
use tdb_types::ArrayType;

pub use grid::{DenseGrid, GridDimension};

use crate::error::{FragmentError, Result};
use crate::header::FooterHeader;

/// The division of a fragment's cells into tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tiles {
    /// The tiles of a dense fragment: a part of the array's tile grid.
    Dense(DenseGrid),
    /// The tiles of a sparse fragment: runs of cells in global order.
    Sparse(SparseTiles),
}

/// The tiles of a sparse fragment. All except the last have the schema's capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SparseTiles {
    /// The number of tiles.
    pub count: u64,
    /// The number of cells in each tile except the last.
    pub capacity: u64,
    /// The number of cells in the last tile, from 1 to the capacity. Meaningless if there are no
    /// tiles.
    pub last_cells: u64,
}

impl Tiles {
    pub(crate) fn new(header: &FooterHeader, schema: &ArraySchema) -> Result<Self> {
        if header.dense { DenseGrid::new(header, schema).map(Self::Dense) } else { sparse(header, schema) }
    }

    /// Returns the number of tiles.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::Dense(grid) => grid.tile_count(),
            Self::Sparse(tiles) => tiles.count,
        }
    }

    /// Returns the number of cells in a tile, or `None` if the tile does not exist.
    #[must_use]
    #[inline]
    pub fn cells_in(&self, tile: u64) -> Option<u64> {
        let last = self.count().checked_sub(1)?;
        match self {
            _ if tile > last => None,
            Self::Dense(grid) => Some(grid.cells_per_tile()),
            Self::Sparse(tiles) => Some(if tile == last { tiles.last_cells } else { tiles.capacity }),
        }
    }

    /// Returns the number of a tile's cells that are inside the fragment's non-empty domain, or
    /// `None` if the tile does not exist. In a sparse fragment, all cells are inside.
    #[must_use]
    pub fn visible_cells_in(&self, tile: u64) -> Option<u64> {
        match self {
            Self::Dense(grid) => grid.visible_cells_in(tile),
            Self::Sparse(_) => self.cells_in(tile),
        }
    }

    /// Returns the number of cells in the fragment's non-empty domain. In a sparse fragment, these
    /// are all cells.
    #[must_use]
    pub fn visible_cell_count(&self) -> u64 {
        match self {
            Self::Dense(grid) => grid.visible_cell_count(),
            Self::Sparse(_) => self.cell_count(),
        }
    }

    /// Returns the total number of cells in all tiles. In a dense fragment, this includes cells
    /// outside of the non-empty domain.
    #[must_use]
    pub fn cell_count(&self) -> u64 {
        match self {
            // `DenseGrid::new` and `sparse` have checked both products.
            Self::Dense(grid) => grid.tile_count().saturating_mul(grid.cells_per_tile()),
            Self::Sparse(SparseTiles { count: 0, .. }) => 0,
            Self::Sparse(tiles) => (tiles.count - 1).saturating_mul(tiles.capacity).saturating_add(tiles.last_cells),
        }
    }
}

fn sparse(header: &FooterHeader, schema: &ArraySchema) -> Result<Tiles> {
    let tiles = SparseTiles {
        count: header.sparse_tile_count,
        capacity: schema.capacity(),
        last_cells: header.last_tile_cells,
    };
    if tiles.count > 0 && !(1..=tiles.capacity).contains(&tiles.last_cells) {
        let expected = format!("1 to {}, the tile capacity", tiles.capacity);
        return Err(FragmentError::inconsistent("last tile's cells", tiles.last_cells, expected));
    }
    if tiles.count.checked_mul(tiles.capacity).is_none() {
        let expected = format!("fewer than 2^64 cells at {} cells per tile", tiles.capacity);
        return Err(FragmentError::inconsistent("sparse tile count", tiles.count, expected));
    }
    Ok(Tiles::Sparse(tiles))
}

/// Rejects dense fragments of sparse arrays. Sparse fragments of dense arrays are allowed, because
/// old releases supported writes of individual cells to dense arrays.
fn check_dense(schema: &ArraySchema) -> Result<()> {
    match schema.array_type() {
        ArrayType::Dense => Ok(()),
        ArrayType::Sparse => {
            Err(FragmentError::inconsistent("dense", "a dense fragment", "a sparse fragment in a sparse array"))
        }
    }
}

#[cfg(test)]
mod tests;
