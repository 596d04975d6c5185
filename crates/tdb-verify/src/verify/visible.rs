//! The visible cells of dense tiles, which are within the non-empty domain.

use std::ops::Range;

use tdb_array::tdb_fragment::{DenseGrid, GridDimension, Tiles};
use tdb_array::tdb_schema::ArraySchema;
use tdb_types::Layout;

/// Returns the runs of visible cells in a tile. A fully visible tile has a single run.
pub(super) fn visible_runs(tiles: &Tiles, schema: &ArraySchema, tile: u64, cells: usize) -> VisibleRuns {
    match tiles {
        Tiles::Dense(grid) if grid.visible_cells_in(tile) != Some(cells as u64) => VisibleRuns::new(grid, schema, tile),
        _ => VisibleRuns { run: 0..cells, slower: Vec::new(), is_done: false },
    }
}

/// An iterator over runs of cells. A tile may have one run per cell.
#[derive(Clone, Debug)]
pub(super) struct VisibleRuns {
    /// The next run.
    run: Range<usize>,
    /// Dimensions that distinguish the runs, fastest first.
    slower: Vec<Side>,
    is_done: bool,
}

/// A dimension along which the runs of a tile follow each other.
#[derive(Clone, Debug)]
struct Side {
    /// Distance in cells between two steps.
    cells: usize,
    /// Number of steps.
    steps: usize,
    /// Number of completed steps.
    done: usize,
}

impl VisibleRuns {
    fn new(grid: &DenseGrid, schema: &ArraySchema, tile: u64) -> Self {
        let visible = |dimension: &GridDimension| {
            let position = tile / dimension.stride % dimension.count;
            let before = if position == 0 { dimension.before } else { 0 };
            let behind = if position + 1 == dimension.count { dimension.behind } else { 0 };
            // Tiles fit in memory, so that their extents fit in `usize`.
            (dimension.extent as usize, before as usize..(dimension.extent - behind) as usize)
        };
        let mut sides: Vec<(usize, Range<usize>)> = grid.dimensions().iter().map(visible).collect();
        if schema.cell_order() != Layout::ColMajor {
            sides.reverse();
        }
        let (mut run, mut slower, mut cells, mut first) = (0..1, Vec::new(), 1, 0);
        for (extent, visible) in sides {
            // Visible cells along a dimension are contiguous if all previous dimensions are fully
            // visible.
            if slower.is_empty() && run == (0..cells) {
                run = visible.start * cells..visible.end * cells;
            } else {
                first += visible.start * cells;
                slower.push(Side { cells, steps: visible.len(), done: 0 });
            }
            cells *= extent;
        }
        let is_done = run.is_empty() || slower.iter().any(|side| side.steps == 0);
        Self { run: run.start + first..run.end + first, slower, is_done }
    }
}

impl Iterator for VisibleRuns {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        if self.is_done {
            return None;
        }
        let run = self.run.clone();
        for side in &mut self.slower {
            side.done += 1;
            if side.done < side.steps {
                self.run = self.run.start + side.cells..self.run.end + side.cells;
                return Some(run);
            }
            let back = (side.steps - 1) * side.cells;
            self.run = self.run.start - back..self.run.end - back;
            side.done = 0;
        }
        self.is_done = true;
        Some(run)
    }
}
