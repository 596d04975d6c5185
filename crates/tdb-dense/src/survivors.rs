//! Boxes around the tiles that may hold a cell that meets a condition.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use tdb_condition::BoundCondition;
use tdb_query::Pruner;
use tdb_snapshot::{Result, Snapshot};

use crate::layers::{Grid, Layer, Layers};
use crate::shape::{Odometer, Shape};

/// The tiles of an array that fragment metadata does not rule out.
pub(super) struct Survivors<'a> {
    array: &'a Snapshot,
    layers: &'a Layers,
    shape: &'a Shape,
    condition: &'a BoundCondition,
    /// Pruners by fragment.
    pruners: HashMap<usize, Pruner>,
    /// Number of tiles that may still be judged.
    pub(super) left: usize,
}

impl<'a> Survivors<'a> {
    /// Judges up to `left` tiles.
    pub(super) fn new(
        (array, condition): (&'a Snapshot, &'a BoundCondition),
        layers: &'a Layers,
        shape: &'a Shape,
        left: usize,
    ) -> Self {
        Self { array, layers, shape, condition, pruners: HashMap::new(), left }
    }

    /// Returns boxes around the surviving tiles of a layer, clipped to `bounds`. `bounds` must be
    /// inside the bounds of the layer, and is returned if it intersects too many tiles.
    ///
    /// # Errors
    /// The fragments of the array cannot be read.
    pub(super) fn within(&mut self, layer: usize, bounds: Vec<Range<u128>>) -> Result<Vec<Vec<Range<u128>>>> {
        let tiles: Vec<Range<u64>> =
            bounds.iter().zip(&self.shape.axes).map(|(cells, axis)| tiles(cells, axis.extent)).collect();
        let mut counts = tiles.iter().map(|tiles| usize::try_from(tiles.end - tiles.start).ok());
        let count = counts.try_fold(1usize, |all, count| all.checked_mul(count?));
        let Some(count) = count.filter(|count| *count <= self.left) else { return Ok(vec![bounds]) };
        self.left -= count;
        let layer = self.layers.get(layer);
        let pruner = match self.pruners.entry(layer.fragment) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let fragment = &self.array.fragments()?[layer.fragment];
                new.insert(Pruner::new(fragment, self.array.schema(), self.condition))
            }
        };
        let cuts: Vec<Vec<u128>> = bounds
            .iter()
            .zip(&tiles)
            .zip(&self.shape.axes)
            .map(|((cells, tiles), axis)| {
                let starts = (tiles.start + 1..tiles.end).map(|tile| u128::from(tile) * u128::from(axis.extent));
                [cells.start].into_iter().chain(starts).chain([cells.end]).collect()
            })
            .collect();
        let owners = owners(layer, tiles, pruner);
        let mut boxes = Vec::new();
        Grid::new(&cuts, owners).boxes(|owner, bounds| {
            if owner == SURVIVES {
                boxes.push(bounds);
            }
        });
        Ok(boxes)
    }
}

/// The owner of surviving tiles in a [`Grid`]. Other tiles have owner 0.
const SURVIVES: usize = 1;

/// Judges the tiles of a box, in row-major order.
fn owners(layer: &Layer, tiles: Vec<Range<u64>>, pruner: &Pruner) -> Vec<usize> {
    let dimensions = tiles.len();
    let mut tiles = Odometer::new(tiles, (0..dimensions).collect());
    let mut owners = Vec::new();
    while let Some(tile) = tiles.at() {
        let survives = layer.tile(tile).is_some_and(|place| !pruner.rules_out(place.tile));
        owners.push(if survives { SURVIVES } else { 0 });
        tiles.advance();
    }
    owners
}

/// Returns the tiles along a dimension that a range of cells intersects. The range must not be empty.
fn tiles(cells: &Range<u128>, extent: u64) -> Range<u64> {
    let tile = |cell: u128| u64::try_from(cell / u128::from(extent)).unwrap_or(u64::MAX);
    tile(cells.start)..tile(cells.end - 1).saturating_add(1)
}
