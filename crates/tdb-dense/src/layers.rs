//! Fragments as layers of boxes over the domain. Newer layers hide older layers.

mod layer;
mod scattered;

use std::ops::Range;

use tdb_fragment::Tiles;
use tdb_snapshot::{Result, Snapshot};

use crate::domain_cells::lows;

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

/// Maximum number of grid entries for a box. Larger boxes are halved.
const GRID_ENTRIES: usize = 1 << 18;

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
                let mut grid = Grid::new(&cuts, entries);
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

/// A box cut along all dimensions wherever the owner may change.
struct Grid<'a> {
    cuts: &'a [Vec<u128>],
    /// Owner of each entry, in row-major order. [`TAKEN`] after the entry was emitted.
    owners: Vec<usize>,
}

const TAKEN: usize = usize::MAX;

impl<'a> Grid<'a> {
    fn new(cuts: &'a [Vec<u128>], entries: usize) -> Self {
        Self { cuts, owners: vec![0; entries] }
    }

    fn len(&self, dimension: usize) -> usize {
        self.cuts[dimension].len() - 1
    }

    fn paint(&mut self, bounds: &[Range<u128>], owner: usize) {
        let window: Vec<Range<usize>> = bounds
            .iter()
            .zip(self.cuts)
            .map(|(bounds, cuts)| {
                let start = cuts.partition_point(|cut| *cut < bounds.start);
                let end = cuts.partition_point(|cut| *cut < bounds.end).min(cuts.len() - 1);
                start..end
            })
            .collect();
        self.rows(&window, |row| row.fill(owner));
    }

    /// Calls `each` with every row, along the last dimension, of a part of the grid.
    fn rows(&mut self, window: &[Range<usize>], mut each: impl FnMut(&mut [usize])) {
        let Some((last, outer)) = window.split_last() else { return each(&mut self.owners) };
        if window.iter().any(Range::is_empty) {
            return;
        }
        let mut at: Vec<usize> = outer.iter().map(|range| range.start).collect();
        loop {
            let row = at.iter().enumerate().fold(0, |row, (dimension, at)| row * self.len(dimension) + at);
            let start = row * self.len(outer.len());
            each(&mut self.owners[start + last.start..start + last.end]);
            let Some(next) = (0..at.len()).rev().find(|&dimension| at[dimension] + 1 < outer[dimension].end) else {
                return;
            };
            at[next] += 1;
            for dimension in next + 1..at.len() {
                at[dimension] = outer[dimension].start;
            }
        }
    }

    /// Emits the grid as boxes with a single owner. Each box begins with one entry and grows as far
    /// as possible.
    fn boxes(mut self, mut each: impl FnMut(usize, Vec<Range<u128>>)) {
        for start in 0..self.owners.len() {
            let owner = self.owners[start];
            if owner == TAKEN {
                continue;
            }
            let mut window = vec![0..0; self.cuts.len()];
            let mut rest = start;
            for dimension in (0..window.len()).rev() {
                let at = rest % self.len(dimension);
                rest /= self.len(dimension);
                window[dimension] = at..at + 1;
            }
            for dimension in (0..window.len()).rev() {
                self.grow(&mut window, dimension, owner);
            }
            self.rows(&window, |row| row.fill(TAKEN));
            let bounds = window.iter().zip(self.cuts).map(|(range, cuts)| cuts[range.start]..cuts[range.end]);
            each(owner, bounds.collect());
        }
    }

    fn grow(&mut self, window: &mut [Range<usize>], dimension: usize, owner: usize) {
        while window[dimension].end < self.len(dimension) {
            let mut next = window.to_vec();
            next[dimension] = window[dimension].end..window[dimension].end + 1;
            let mut same = true;
            self.rows(&next, |row| same &= row.iter().all(|other| *other == owner));
            if !same {
                return;
            }
            window[dimension].end += 1;
        }
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
