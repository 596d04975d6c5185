//! Reading tile by tile.

use tdb_snapshot::Result;

use crate::cells::{Look, Want, WantedCells};
use crate::context::Context;
use crate::engine::Engine;
use crate::selected::SelectedTile;
use crate::table::{Run, RunQueue, TileTable, cell_bytes};

/// An engine that emits the matching cells of tiles in stored order, tile by tile. Suitable if no
/// cell must be compared with a cell of another tile.
#[derive(Debug)]
pub(super) struct Stream {
    /// Tiles with source indices.
    tiles: Vec<(usize, SelectedTile)>,
    next: usize,
}

impl Stream {
    pub(super) fn new(tiles: Vec<(usize, SelectedTile)>) -> Self {
        Self { tiles, next: 0 }
    }

    /// Returns the next tiles, enough for about `bytes` bytes if all cells match.
    fn next_tiles(&mut self, context: &Context, bytes: usize) -> &[(usize, SelectedTile)] {
        let first = self.next;
        let mut sum = 0_usize;
        while let Some((source, tile)) = self.tiles.get(self.next)
            && sum < bytes
        {
            let size = cell_bytes(context, *source, tile.tile, tile.cells);
            sum = sum.saturating_add(size.saturating_mul(tile.cells as usize));
            self.next += 1;
        }
        &self.tiles[first..self.next]
    }
}

impl Engine for Stream {
    fn fill(&mut self, context: &Context, tiles: &mut TileTable, queue: &mut RunQueue) -> Result<bool> {
        // Unfiltered coordinates are kept for the result. The memory matters if few of a tile's
        // cells match.
        let mut held = 0_usize;
        while self.next < self.tiles.len() && queue.bytes().max(held) < context.budget {
            let group = self.next_tiles(context, context.budget - queue.bytes().max(held));
            let jobs: Vec<_> = group.iter().filter(|(source, tile)| needs_look(context, *source, tile)).collect();
            let bytes = jobs.iter().map(|(_, tile)| u64::from(tile.cells) * 16).sum();
            let wanted = context.array.workers().map(bytes, jobs, |(source, tile), scratch| {
                let source = &context.sources[*source];
                WantedCells::load(Look { context, source, tile, want: Want::Cells }, scratch)
            })?;
            let mut wanted = wanted.into_iter();
            for (source, tile) in group {
                let looked_at = if needs_look(context, *source, tile) { wanted.next() } else { None };
                if looked_at.as_ref().is_some_and(|wanted| wanted.len(tile) == 0) {
                    continue;
                }
                let slot = tiles.add(context, *source, tile.tile, tile.cells);
                let kept = looked_at.and_then(|wanted| {
                    held += tiles.get_mut(slot).hold(wanted.fields);
                    wanted.kept
                });
                match kept {
                    None => queue.push(tiles, Run { slot, start: 0, len: tile.cells }),
                    Some(kept) => queue.push_list(tiles, slot, &kept),
                }
                tiles.close(context, slot);
            }
        }
        Ok(!queue.is_empty())
    }
}

/// Returns `true` if not all cells of the tile are known to match.
pub(super) fn needs_look(context: &Context, source: usize, tile: &SelectedTile) -> bool {
    !tile.full || context.sources[source].is_filtered(tile)
}
