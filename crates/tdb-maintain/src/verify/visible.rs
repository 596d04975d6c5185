//! Which cells of a dense tile lie in the non-empty domain.

use std::ops::Range;

use tdb_array::tdb_fragment::{DenseGrid, Tiles};
use tdb_array::tdb_schema::ArraySchema;
use tdb_types::Layout;

/// The runs of a tile's cells that readers can see; all of them in one run if the tile has no others.
pub(super) fn visible_runs(tiles: &Tiles, schema: &ArraySchema, tile: u64, cells: usize) -> Vec<Range<usize>> {
    match tiles {
        Tiles::Dense(grid) if grid.visible_cells_in(tile) != Some(cells as u64) => runs(grid, schema, tile),
        _ => std::iter::once(0..cells).collect(),
    }
}

/// A dimension of a tile, from the one along which cells lie next to each other on.
struct Side {
    extent: usize,
    visible: Range<usize>,
}

fn runs(grid: &DenseGrid, schema: &ArraySchema, tile: u64) -> Vec<Range<usize>> {
    let side = |dimension: &tdb_array::tdb_fragment::GridDimension| {
        let position = tile / dimension.stride % dimension.count;
        let before = if position == 0 { dimension.before } else { 0 };
        let behind = if position + 1 == dimension.count { dimension.behind } else { 0 };
        // Tiles are in memory, so that their sides are numbers of it.
        Side { extent: dimension.extent as usize, visible: before as usize..(dimension.extent - behind) as usize }
    };
    let mut sides: Vec<Side> = grid.dimensions().iter().map(side).collect();
    if schema.cell_order() != Layout::ColMajor {
        sides.reverse();
    }
    let Some((fastest, slower)) = sides.split_first() else { return Vec::new() };
    let mut runs = vec![fastest.visible.clone()];
    let mut cells = fastest.extent;
    for side in slower {
        let mut wider: Vec<Range<usize>> = Vec::with_capacity(runs.len().saturating_mul(side.visible.len()));
        for place in side.visible.clone() {
            for run in &runs {
                let run = place * cells + run.start..place * cells + run.end;
                match wider.last_mut() {
                    Some(last) if last.end == run.start => last.end = run.end,
                    _ => wider.push(run),
                }
            }
        }
        runs = wider;
        cells *= side.extent;
    }
    runs
}
