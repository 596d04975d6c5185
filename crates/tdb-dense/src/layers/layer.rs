//! One fragment, or one cell of it, as a box.

use std::ops::Range;

use tdb_fragment::DenseGrid;
use tdb_rtree::DimRange;
use tdb_snapshot::Fragment;

/// A fragment as a box of the domain.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// Its place in [`Array::fragments`](tdb_snapshot::Array::fragments).
    pub(crate) fragment: usize,
    tiles: LayerTiles,
    /// Its non-empty domain, in cells from the domain's low end. Cells of its tiles outside of it are padding.
    pub(crate) bounds: Vec<Range<u128>>,
}

/// Where a layer's cells lie in the fragment.
#[derive(Clone, Debug)]
enum LayerTiles {
    /// In all tiles of a dense fragment.
    Grid(DenseGrid),
    /// The layer is one cell of a sparse fragment.
    Cell(TilePlace),
}

/// A tile of a fragment, and which of its cells are meant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TilePlace {
    /// The tile's index in the fragment.
    pub(crate) tile: u64,
    /// How many cells the tile has.
    pub(crate) cells: u64,
    /// The one cell that is meant; none if they lie in the tile as in the array's domain.
    pub(crate) cell: Option<u64>,
}

impl Layer {
    pub(crate) fn of(index: usize, fragment: &Fragment, grid: &DenseGrid, lows: &[u64]) -> Option<Self> {
        let ranges = fragment.non_empty_domain()?.0.iter().zip(lows);
        let bounds = ranges.map(|(range, low)| match *range {
            DimRange::Fixed { lo, hi } => u128::from(lo.saturating_sub(*low))..u128::from(hi.saturating_sub(*low)) + 1,
            DimRange::Var { .. } => 0..0,
        });
        Some(Self { fragment: index, tiles: LayerTiles::Grid(grid.clone()), bounds: bounds.collect() })
    }

    /// The layer of one cell of a sparse fragment.
    pub(crate) fn cell(fragment: usize, place: TilePlace, at: impl Iterator<Item = u64>) -> Self {
        let bounds = at.map(|at| u128::from(at)..u128::from(at) + 1).collect();
        Self { fragment, tiles: LayerTiles::Cell(place), bounds }
    }

    /// Where the layer's cells of a tile of the domain lie; `tile` counts along each dimension.
    pub(crate) fn tile(&self, tile: &[u64]) -> Option<TilePlace> {
        match &self.tiles {
            LayerTiles::Cell(place) => Some(*place),
            LayerTiles::Grid(grid) => {
                let index = grid.index_of(tile)?;
                Some(TilePlace { tile: index, cells: grid.cells_per_tile(), cell: None })
            }
        }
    }

    /// The non-empty domain, in cells from the domain's low end.
    pub(crate) fn bounds(&self) -> &[Range<u128>] {
        &self.bounds
    }
}
