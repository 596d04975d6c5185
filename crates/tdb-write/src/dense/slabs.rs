//! Mapping of the cells of a region to positions in tiles.

use std::ops::Range;

use tdb_fragment::DenseGrid;
use tdb_schema::ArraySchema;
use tdb_types::{Layout, saturating_len};

use crate::encoder::Run;

/// A mapping from the tiles of a region to runs of cells.
#[derive(Debug)]
pub(super) struct TileSlabs {
    grid: DenseGrid,
    /// Distance between neighboring cells along each dimension, in a tile.
    tile_strides: Vec<usize>,
    /// Distance between neighboring cells along each dimension, in the region.
    region_strides: Vec<usize>,
    /// Number of cells of the region along each dimension.
    lens: Vec<u64>,
    /// Order of cells in tiles.
    cell_order: Layout,
    /// `true` if the cells of the region have the same order as the cells in tiles.
    same_order: bool,
}

/// Cells at regular distances, both in the tile and in the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slab {
    tile: usize,
    tile_step: usize,
    region: usize,
    region_step: usize,
    len: usize,
}

/// The section of a tile within the region, along one dimension.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// Index of the first cell in the tile.
    tile: usize,
    /// Index of the first cell in the region.
    region: usize,
    len: usize,
}

impl TileSlabs {
    /// Creates the mapping. `layout` is the order of the region's cells.
    pub(super) fn new(schema: &ArraySchema, grid: &DenseGrid, layout: Layout) -> Self {
        let dimensions = grid.dimensions();
        let lens: Vec<u64> = dimensions
            .iter()
            .map(|along| (along.count * along.extent).saturating_sub(along.before + along.behind))
            .collect();
        let extents: Vec<u64> = dimensions.iter().map(|along| along.extent).collect();
        let cell_order = schema.cell_order();
        Self {
            tile_strides: strides(&extents, cell_order),
            region_strides: strides(&lens, layout),
            lens,
            cell_order,
            same_order: cell_order == layout || dimensions.len() == 1,
            grid: grid.clone(),
        }
    }

    /// Returns the cells of a tile as runs, in the order in which the reference library visits the
    /// cells. Sums of floats depend on this order.
    pub(super) fn of_tile(&self, tile: u64) -> Vec<Slab> {
        let shares: Vec<Share> = (0..self.lens.len()).map(|dimension| self.share(tile, dimension)).collect();
        let last = shares.len() - 1;
        // A run extends along the dimensions in `run`. The dimensions in `rest` distinguish the
        // runs, the fastest dimension last.
        let (run, rest) = match (self.same_order, self.cell_order) {
            (true, Layout::ColMajor) => {
                let mut end = 1;
                while end <= last && self.is_whole(&shares, end - 1) {
                    end += 1;
                }
                (0..end, end..shares.len())
            }
            (true, _) => {
                let mut start = last;
                while start > 0 && self.is_whole(&shares, start) {
                    start -= 1;
                }
                (start..shares.len(), 0..start)
            }
            // The cells are not contiguous in both tile and region, but have regular distances.
            (false, _) => (last..shares.len(), 0..last),
        };
        let fastest = if self.same_order && self.cell_order == Layout::ColMajor { run.start } else { run.end - 1 };
        let first = |strides: &[usize], at: fn(&Share) -> usize| -> usize {
            shares.iter().zip(strides).map(|(share, stride)| at(share) * stride).sum()
        };
        let mut slabs = vec![Slab {
            tile: first(&self.tile_strides, |share| share.tile),
            tile_step: self.tile_strides[fastest],
            region: first(&self.region_strides, |share| share.region),
            region_step: self.region_strides[fastest],
            len: shares[run].iter().map(|share| share.len).product(),
        }];
        for dimension in rest {
            let (tile, region) = (self.tile_strides[dimension], self.region_strides[dimension]);
            let steps = |slab: Slab| {
                (0..shares[dimension].len).map(move |step| Slab {
                    tile: slab.tile + step * tile,
                    region: slab.region + step * region,
                    ..slab
                })
            };
            slabs = slabs.into_iter().flat_map(steps).collect();
        }
        slabs
    }

    /// Returns `true` if region and tile have the same length along a dimension, so that a run can
    /// continue across this dimension.
    fn is_whole(&self, shares: &[Share], dimension: usize) -> bool {
        let len = shares[dimension].len as u64;
        len == self.grid.dimensions()[dimension].extent && len == self.lens[dimension]
    }

    fn share(&self, tile: u64, dimension: usize) -> Share {
        let along = &self.grid.dimensions()[dimension];
        let position = self.grid.tile_index(tile, dimension).unwrap_or(along.first) - along.first;
        let start = if position == 0 { along.before } else { 0 };
        let end = along.extent - if position + 1 == along.count { along.behind } else { 0 };
        let index = |number: u64| saturating_len(number);
        Share {
            tile: index(start),
            region: index(position * along.extent + start - along.before),
            len: index(end - start),
        }
    }
}

/// Returns the distance between neighboring cells along each dimension of a box.
fn strides(lens: &[u64], order: Layout) -> Vec<usize> {
    let mut strides = vec![0; lens.len()];
    let mut stride = 1usize;
    let mut set = |dimension: usize| {
        strides[dimension] = stride;
        stride = stride.saturating_mul(saturating_len(lens[dimension]));
    };
    if order == Layout::ColMajor {
        (0..lens.len()).for_each(&mut set);
    } else {
        (0..lens.len()).rev().for_each(&mut set);
    }
    strides
}

impl Slab {
    /// Returns the cell indices in the tile and in the region.
    pub(super) fn cells(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let slab = *self;
        (0..slab.len).map(move |step| (slab.tile + step * slab.tile_step, slab.region + step * slab.region_step))
    }

    /// Returns the number of cells.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if the cells are contiguous in both the tile and the region.
    pub(super) fn is_contiguous(&self) -> bool {
        self.len <= 1 || (self.tile_step == 1 && self.region_step == 1)
    }

    /// Returns the index of the first cell in the tile, and the distance to the next cell.
    pub(super) fn place(&self) -> (usize, usize) {
        (self.tile, self.tile_step.max(1))
    }

    /// Returns the index of the first cell in the tile, and the indices of the cells in the region.
    /// The cells must be contiguous.
    pub(super) fn run(&self) -> (usize, Range<usize>) {
        (self.tile, self.region..self.region + self.len)
    }

    /// Returns runs of cells that are contiguous in the tile, for statistics.
    pub(super) fn runs(&self) -> impl Iterator<Item = Run> + Clone + use<> {
        let (count, len) = if self.tile_step == 1 { (1, self.len) } else { (self.len, 1) };
        let (start, step, one_by_one) = (self.tile, self.tile_step, self.region_step != 1);
        (0..count).map(move |number| {
            let first = start + number * step;
            Run { cells: first..first + len, one_by_one }
        })
    }

    /// Copies the cells from the region to the tile. A cell has `size` bytes.
    pub(super) fn copy(&self, region: &[u8], tile: &mut [u8], size: usize) {
        if self.tile_step == 1 && self.region_step == 1 {
            let (from, to, len) = (self.region * size, self.tile * size, self.len * size);
            tile[to..to + len].copy_from_slice(&region[from..from + len]);
            return;
        }
        match size {
            1 => self.copy_cells::<1>(region, tile),
            2 => self.copy_cells::<2>(region, tile),
            4 => self.copy_cells::<4>(region, tile),
            8 => self.copy_cells::<8>(region, tile),
            _ => {
                for (to, from) in self.cells() {
                    tile[to * size..(to + 1) * size].copy_from_slice(&region[from * size..(from + 1) * size]);
                }
            }
        }
    }

    fn copy_cells<const SIZE: usize>(&self, region: &[u8], tile: &mut [u8]) {
        let (region, _) = region.as_chunks::<SIZE>();
        let (tile, _) = tile.as_chunks_mut::<SIZE>();
        for (to, from) in self.cells() {
            tile[to] = region[from];
        }
    }
}
