//! The shape of a result and of its tiles.

use std::ops::Range;

use tdb_cells::Order;
use tdb_query::CheckedQuery;
use tdb_schema::ArraySchema;
use tdb_schema::global_order::in_order;
use tdb_types::Layout;

use crate::axis::Axis;

/// A box of positions in the result.
pub(super) type Positions = Vec<Range<u128>>;

/// The dimensions of a result, and the orders of cells.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) axes: Vec<Axis>,
    /// Order of tiles in the domain, slowest dimension first.
    pub(super) tile_order: Vec<usize>,
    /// Order of cells in a tile, slowest dimension first.
    pub(super) cell_order: Vec<usize>,
    /// Distance within a tile between neighboring cells along each dimension.
    pub(super) tile_strides: Vec<u64>,
    pub(super) cells_per_tile: u64,
    /// Number of threads that divide a batch.
    pub(super) threads: usize,
}

impl Shape {
    pub(super) fn new(query: &CheckedQuery) -> Self {
        let schema = query.array.schema();
        let dimensions = schema.domain().dimensions();
        let axes: Vec<Axis> = dimensions
            .iter()
            .zip(query.region.ranges())
            .enumerate()
            .map(|(index, (dimension, ranges))| match query.boxes {
                // Boxes may be anywhere in the domain.
                Some(_) => Axis::new(dimension, &[schema.limits(index)]),
                None => Axis::new(dimension, ranges),
            })
            .collect();
        let cell_order = in_order(schema.cell_order(), axes.len());
        let mut tile_strides = vec![1; axes.len()];
        let mut cells = 1u64;
        for &dimension in cell_order.iter().rev() {
            tile_strides[dimension] = cells;
            // Fragments never have tiles of more than 2^64 cells. If the product saturates, no
            // fragment contains a tile.
            cells = cells.saturating_mul(axes[dimension].extent);
        }
        let tile_order = in_order(schema.tile_order(), axes.len());
        let threads = query.array.workers().threads();
        Self { axes, tile_order, cell_order, tile_strides, cells_per_tile: cells, threads }
    }

    /// Returns the order of cells in the result, slowest dimension first. Returns `None` if the
    /// result comes tile by tile.
    pub(super) fn result_order(&self, query: &CheckedQuery, schema: &ArraySchema) -> Option<Vec<usize>> {
        let layout = match query.order {
            Order::RowMajor => Layout::RowMajor,
            Order::ColMajor => Layout::ColMajor,
            // Only valid for ascending ranges of a single dimension.
            Order::Global if !query.region.is_single() && query.boxes.is_none() => Layout::RowMajor,
            Order::Global => return None,
            // Several ranges may share a tile, which should be unfiltered once.
            Order::Unordered if query.region.is_single() || query.boxes.is_some() => return None,
            Order::Unordered => schema.cell_order(),
        };
        Some(in_order(layout, self.axes.len()))
    }

    /// Returns all positions of the result.
    pub(super) fn positions(&self) -> Positions {
        self.axes.iter().map(|axis| 0..axis.len()).collect()
    }
}

/// Returns the number of cells of a box.
pub(super) fn volume(positions: &[Range<u128>]) -> u128 {
    positions.iter().map(|range| range.end - range.start).fold(1, u128::saturating_mul)
}

/// A counter over a box of indices. `order` lists the dimensions, slowest first.
#[derive(Clone, Debug)]
pub(super) struct Odometer {
    bounds: Vec<Range<u64>>,
    order: Vec<usize>,
    at: Vec<u64>,
    ended: bool,
}

impl Odometer {
    pub(super) fn new(bounds: Vec<Range<u64>>, order: Vec<usize>) -> Self {
        let at = bounds.iter().map(|range| range.start).collect();
        let ended = bounds.iter().any(Range::is_empty);
        Self { bounds, order, at, ended }
    }

    /// Returns the current index, or `None` after the last.
    pub(super) fn at(&self) -> Option<&[u64]> {
        (!self.ended).then_some(&self.at[..])
    }

    pub(super) fn advance(&mut self) {
        for &dimension in self.order.iter().rev() {
            self.at[dimension] += 1;
            if self.at[dimension] < self.bounds[dimension].end {
                return;
            }
            self.at[dimension] = self.bounds[dimension].start;
        }
        self.ended = true;
    }
}
