//! A fragment, or a cell of a sparse fragment, as a box.

use std::ops::Range;

use tdb_fragment::DenseGrid;
use tdb_snapshot::Fragment;

use crate::domain_cells::cells;

/// A fragment, or a cell of a sparse fragment, as a box of the domain.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// Index in [`Snapshot::fragments`](tdb_snapshot::Snapshot::fragments).
    pub(crate) fragment: usize,
    tiles: LayerTiles,
    /// Non-empty domain, in cells from the low end of the domain. Cells of tiles outside of these
    /// bounds are padding.
    pub(crate) bounds: Vec<Range<u128>>,
}

/// Locations of a layer's cells within the fragment.
#[derive(Clone, Debug)]
enum LayerTiles {
    /// All tiles of a dense fragment.
    Grid(DenseGrid),
    /// A single cell of a sparse fragment.
    Cell(TilePlace),
}

/// A tile of a fragment, and the relevant cells of that tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TilePlace {
    /// Index of the tile in the fragment.
    pub(crate) tile: u64,
    /// Number of cells of the tile.
    pub(crate) cells: u64,
    /// Index of the only relevant cell. `None` if the tile corresponds to a space tile of the
    /// array.
    pub(crate) cell: Option<u64>,
}

impl Layer {
    pub(crate) fn of(index: usize, fragment: &Fragment, grid: &DenseGrid, lows: &[u64]) -> Option<Self> {
        let ranges = fragment.non_empty_domain()?.0.iter().zip(lows);
        let bounds = ranges.map(|(range, low)| cells(range, *low));
        Some(Self { fragment: index, tiles: LayerTiles::Grid(grid.clone()), bounds: bounds.collect() })
    }

    /// Creates a layer for one cell of a sparse fragment.
    pub(crate) fn cell(fragment: usize, place: TilePlace, at: impl Iterator<Item = u64>) -> Self {
        let bounds = at.map(|at| u128::from(at)..u128::from(at) + 1).collect();
        Self { fragment, tiles: LayerTiles::Cell(place), bounds }
    }

    /// Returns the location of a space tile in the fragment. `tile` is the index of the space tile
    /// along each dimension. Returns `None` if the fragment does not contain the tile.
    pub(crate) fn tile(&self, tile: &[u64]) -> Option<TilePlace> {
        match &self.tiles {
            LayerTiles::Cell(place) => Some(*place),
            LayerTiles::Grid(grid) => {
                let index = grid.index_of(tile)?;
                Some(TilePlace { tile: index, cells: grid.cells_per_tile(), cell: None })
            }
        }
    }
}
