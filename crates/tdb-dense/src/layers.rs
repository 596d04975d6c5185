//! Fragments as layers of boxes over the domain. Newer layers hide older layers.

mod grid;
mod layer;
mod scattered;

use std::ops::Range;

use tdb_fragment::Tiles;
use tdb_snapshot::{Result, Snapshot};

use crate::domain_cells::lows;

use grid::GRID_ENTRIES;
pub(super) use grid::Grid;
pub(super) use layer::{Layer, TilePlace};

/// The fragments of an array as boxes of the domain, oldest first. A dense fragment is a single
/// box, a sparse fragment a box per cell. Old releases wrote single cells of dense arrays into
/// sparse fragments.
#[derive(Clone, Debug)]
pub(super) struct Layers {
    layers: Vec<Layer>,
}

/// A box with a single fragment as the source of all newest cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owned {
    /// Index of the layer. `None` for unwritten cells.
    pub(super) layer: Option<usize>,
    pub(super) bounds: Vec<Range<u128>>,
}

impl Layers {
    pub(super) fn new(array: &Snapshot) -> Result<Self> {
        let lows = lows(array.schema());
        let mut layers = Vec::new();
        for (index, fragment) in array.fragments()?.iter().enumerate() {
            match fragment.footer().tiles() {
                Tiles::Dense(grid) => layers.extend(Layer::of(index, fragment, grid, &lows)),
                _ => scattered::add_layers(array, index, fragment, &lows, &mut layers)?,
            }
        }
        Ok(Self { layers })
    }

    pub(super) fn get(&self, layer: usize) -> &Layer {
        &self.layers[layer]
    }

    pub(super) fn len(&self) -> usize {
        self.layers.len()
    }

    /// Returns the layers that intersect the box, oldest first.
    pub(super) fn within(&self, bounds: &[Range<u128>]) -> Vec<usize> {
        let within = |layer: &usize| intersects(&self.layers[*layer].bounds, bounds);
        (0..self.layers.len()).filter(within).collect()
    }

    /// Cuts a box into parts. The newest cells of each part come from a single layer, or the part
    /// is unwritten. `candidates` lists the layers to consider, oldest first.
    pub(super) fn owners(&self, bounds: &[Range<u128>], candidates: &[usize], owned: &mut Vec<Owned>) {
        // From the newest layer down to the first that covers the whole box.
        let mut stack = Vec::new();
        for &layer in candidates.iter().rev() {
            let layer_bounds = &self.layers[layer].bounds;
            if intersects(layer_bounds, bounds) {
                stack.push(layer);
                if contains(layer_bounds, bounds) {
                    break;
                }
            }
        }
        match stack[..] {
            [] => owned.push(Owned { layer: None, bounds: bounds.to_vec() }),
            [layer] if contains(&self.layers[layer].bounds, bounds) => {
                owned.push(Owned { layer: Some(layer), bounds: bounds.to_vec() });
            }
            _ => self.cut(bounds, &stack, owned),
        }
    }

    /// Finds the owners of a box that several layers share. `stack` is sorted from newest to
    /// oldest.
    fn cut(&self, bounds: &[Range<u128>], stack: &[usize], owned: &mut Vec<Owned>) {
        let cuts: Vec<Vec<u128>> = (0..bounds.len()).map(|dimension| self.cuts(dimension, bounds, stack)).collect();
        let entries = cuts.iter().try_fold(1usize, |entries, cuts| entries.checked_mul(cuts.len() - 1));
        match entries.filter(|entries| *entries <= GRID_ENTRIES) {
            Some(entries) => {
                let mut grid = Grid::new(&cuts, vec![0; entries]);
                for (owner, &layer) in stack.iter().enumerate().rev() {
                    grid.paint(&self.layers[layer].bounds, owner + 1);
                }
                grid.boxes(|owner, bounds| {
                    let layer = owner.checked_sub(1).map(|owner| stack[owner]);
                    owned.push(Owned { layer, bounds });
                });
            }
            None => {
                let most = (0..cuts.len()).max_by_key(|&dimension| cuts[dimension].len()).unwrap_or(0);
                let middle = cuts[most][cuts[most].len() / 2];
                let mut half = bounds.to_vec();
                half[most].end = middle;
                self.owners(&half, &reversed(stack), owned);
                half[most] = middle..bounds[most].end;
                self.owners(&half, &reversed(stack), owned);
            }
        }
    }

    /// Returns the cells along a dimension at which the owner may change, ascending, both ends of
    /// the box included. Cells count from the low end of the domain.
    fn cuts(&self, dimension: usize, bounds: &[Range<u128>], stack: &[usize]) -> Vec<u128> {
        let bounds = &bounds[dimension];
        let ends = stack.iter().flat_map(|&layer| {
            let Range { start, end } = self.layers[layer].bounds[dimension];
            [start, end]
        });
        let inside = ends.filter(|end| bounds.start < *end && *end < bounds.end);
        let mut cuts: Vec<u128> = inside.chain([bounds.start, bounds.end]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }
}

fn intersects(a: &[Range<u128>], b: &[Range<u128>]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.start < b.end && b.start < a.end)
}

fn contains(outer: &[Range<u128>], inner: &[Range<u128>]) -> bool {
    outer.iter().zip(inner).all(|(outer, inner)| outer.start <= inner.start && inner.end <= outer.end)
}

fn reversed(layers: &[usize]) -> Vec<usize> {
    layers.iter().rev().copied().collect()
}
