//! Progress of a reader through a result, and division of batches among workers.

use std::sync::Arc;

use tdb_query::CheckedQuery;

use crate::bands::{Band, Bands};
use crate::layers::Layers;
use crate::runs::{Runs, Sides};
use crate::shape::{Odometer, Positions, Shape, volume};
use crate::walk::TileWalk;
use crate::work::Work;

/// Progress of a reader through the result.
#[derive(Clone, Debug)]
pub(super) enum Cursor {
    /// In row-major or column-major order.
    Bands { bands: Bands, order: Vec<usize> },
    /// Tile by tile. `bands` is the progress within the current tile.
    Tiles { tiles: TileWalk, bands: Option<Bands> },
    /// Through the cells of boxes. `order` is the order of cells in each resulting box.
    Runs { runs: Runs, order: Vec<usize> },
}

/// The boxes of a batch, and the progress after the batch.
#[derive(Clone, Debug)]
pub(super) struct Step {
    boxes: Vec<Positions>,
    /// Order of the cells in each box, slowest dimension first.
    pub(super) order: Vec<usize>,
    /// `true` if the step has up to [`STRETCH`](super::bands::STRETCH) times as many cells as
    /// requested.
    pub(super) stretched: bool,
    pub(super) next: Cursor,
}

/// Number of units of work per batch, and their minimum size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    pub(super) works: usize,
    pub(super) least_cells: u128,
}

impl Cursor {
    /// Creates a cursor at the start of a query's result.
    pub(super) fn of(query: &CheckedQuery, shape: &Shape) -> Self {
        let order = shape.result_order(query, query.array.schema());
        match Sides::of(query) {
            Some(sides) => Self::of_boxes(shape, sides, order),
            None => Self::new(shape, order),
        }
    }

    fn new(shape: &Shape, order: Option<Vec<usize>>) -> Self {
        match order {
            Some(order) => Self::Bands {
                bands: Bands::new(shape.positions(), order.clone(), &shape.axes, &shape.cell_order),
                order,
            },
            None => {
                // A dimension has no tiles only if no cell is requested.
                let tiles = shape.axes.iter().map(|axis| axis.tiles().map_or(0..0, |(first, last)| first..last + 1));
                let tiles = Odometer::new(tiles.collect(), shape.tile_order.clone());
                Self::Tiles { tiles: TileWalk::All(tiles), bands: None }
            }
        }
    }

    /// Creates a cursor over the cells of boxes.
    fn of_boxes(shape: &Shape, sides: Sides, order: Option<Vec<usize>>) -> Self {
        let runs = Runs::new(shape, Arc::new(sides), order.as_deref());
        Self::Runs { runs, order: order.unwrap_or_else(|| shape.cell_order.clone()) }
    }

    /// Returns the next boxes: at most `most_boxes` with at most `most` cells in total, but at
    /// least one cell. A stretched step has more cells. Returns `None` at the end.
    pub(super) fn step(&self, shape: &Shape, most: u128, most_boxes: usize) -> Option<Step> {
        let mut next = self.clone();
        let (boxes, order, stretched) = match &mut next {
            Self::Bands { bands, order } => {
                let Band { positions, stretched } = bands.peek(&shape.axes, most, shape.threads)?;
                bands.advance(&positions);
                (vec![positions], order.clone(), stretched)
            }
            Self::Runs { runs, order } => (runs.take(shape, most, most_boxes), order.clone(), false),
            Self::Tiles { tiles, bands } => {
                (tile_boxes(tiles, bands, shape, most, most_boxes), shape.cell_order.clone(), false)
            }
        };
        (!boxes.is_empty()).then_some(Step { boxes, order, stretched, next })
    }
}

/// Returns up to `most_boxes` complete tiles with at most `most` cells in total, or a part of one
/// tile.
fn tile_boxes(
    tiles: &mut TileWalk,
    bands: &mut Option<Bands>,
    shape: &Shape,
    most: u128,
    most_boxes: usize,
) -> Vec<Positions> {
    let mut boxes = Vec::new();
    let mut left = most;
    while let Some(at) = tiles.at() {
        let bounds: Positions = shape.axes.iter().zip(at).map(|(axis, &tile)| axis.positions_in(tile)).collect();
        let order = &shape.cell_order;
        let inside = bands.take().unwrap_or_else(|| Bands::new(bounds.clone(), order.clone(), &shape.axes, order));
        let Some(Band { positions: band, .. }) = inside.peek(&shape.axes, left.max(1), 1) else { break };
        if !boxes.is_empty() && (band != bounds || volume(&band) > left) {
            // Leave the tile to the next batch.
            *bands = Some(inside);
            break;
        }
        left = left.saturating_sub(volume(&band));
        let mut inside = inside;
        inside.advance(&band);
        boxes.push(band);
        if !inside.ended {
            *bands = Some(inside);
            break;
        }
        tiles.advance();
        if left == 0 || boxes.len() >= most_boxes {
            break;
        }
    }
    boxes
}

impl Step {
    /// Returns the number of cells.
    pub(super) fn cells(&self) -> u128 {
        self.boxes.iter().map(|positions| volume(positions)).fold(0, u128::saturating_add)
    }

    /// Returns the number of pieces of tiles that the boxes intersect.
    pub(super) fn pieces(&self, shape: &Shape) -> u128 {
        let pieces = |positions: &Positions| {
            let counts = shape.axes.iter().zip(positions).map(|(axis, range)| axis.piece_count(range.clone()));
            counts.fold(1, u128::saturating_mul)
        };
        self.boxes.iter().map(pieces).fold(0, u128::saturating_add)
    }

    /// Divides the batch into units of work.
    pub(super) fn works(&self, shape: &Shape, layers: &Layers, division: Division) -> Vec<Work> {
        let target = (self.cells() / division.works.max(1) as u128).max(division.least_cells).max(1);
        let mut works: Vec<Work> = vec![Work::default()];
        for positions in &self.boxes {
            for part in divide(positions, &self.order, shape, target) {
                if let Some(last) = works.last()
                    && last.cells.len() as u128 + volume(&part) / 2 > target
                {
                    let end = last.cells.end;
                    works.push(Work { cells: end..end, ..Work::default() });
                }
                if let Some(work) = works.last_mut() {
                    work.push(shape, layers, part, &self.order);
                }
            }
        }
        works.iter_mut().for_each(Work::finish);
        works
    }
}

/// Cuts a box along its slowest dimension into parts of about `target` cells. Avoids cuts after
/// which two parts need the same chunks.
fn divide(positions: &Positions, order: &[usize], shape: &Shape, target: u128) -> Vec<Positions> {
    let cells = volume(positions);
    let slowest = order.iter().copied().find(|&dimension| positions[dimension].end - positions[dimension].start > 1);
    let Some(dimension) = slowest.filter(|_| cells > target) else { return vec![positions.clone()] };
    let axis = &shape.axes[dimension];
    let range = positions[dimension].clone();
    let len = range.end - range.start;
    let parts = (cells / target).clamp(1, len);
    // If the dimension is also the slowest in tiles, chunks are slices across it.
    let slices = shape.cell_order.iter().find(|&&dimension| shape.axes[dimension].extent > 1) == Some(&dimension);
    let inside = slices && axis.piece_count(range.clone()) < 2 * parts;
    let mut ends = Vec::new();
    let mut start = range.start;
    for part in 1..=parts {
        let even = range.start + len * part / parts;
        let end = if part == parts || inside { Some(even) } else { axis.last_cut(start..even.max(start + 1)) };
        if let Some(end) = end.filter(|end| *end > start) {
            ends.push(start..end);
            start = end;
        }
    }
    let with = |range| {
        let mut part = positions.clone();
        part[dimension] = range;
        part
    };
    ends.into_iter().map(with).collect()
}
