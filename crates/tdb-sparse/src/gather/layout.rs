//! Positions of each tile's cells within a batch.

use std::ops::Range;

use crate::table::{Run, Tile, TileTable};

/// The runs of a batch, by tile and in pieces.
#[derive(Debug)]
pub(super) struct BatchLayout<'a> {
    pub(super) runs: &'a [Run],
    pub(super) cells: usize,
    /// Contributing tiles, in the order of first runs.
    pub(super) uses: Vec<Use>,
    /// Ranges of runs, with the number of cells in each. Threads share the pieces.
    pub(super) pieces: Vec<(Range<usize>, usize)>,
}

/// A tile's contribution to a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) slot: u32,
    /// Position of the tile's first cell in the batch.
    pub(super) start: usize,
    /// End of the tile's last run in the batch.
    pub(super) end: usize,
    /// Index of the tile's first run.
    pub(super) first_run: usize,
    /// Number of runs.
    pub(super) runs: usize,
    /// `true` if the runs are consecutive in the batch.
    pub(super) together: bool,
    /// `true` if the batch takes the whole tile in stored order.
    pub(super) whole: bool,
    /// Lowest cell index.
    pub(super) first_cell: u32,
    /// Highest cell index plus 1.
    pub(super) end_cell: u32,
}

/// Minimum number of cells in a piece. Smaller pieces are not worth a thread.
const PIECE_CELLS: usize = 16 * 1024;

impl Use {
    fn of(run: &Run, start: usize, first_run: usize, whole: bool) -> Self {
        let (first_cell, end_cell) = (run.start, run.start + run.len);
        let end = start + run.len as usize;
        Self { slot: run.slot, start, end, first_run, runs: 1, together: true, whole, first_cell, end_cell }
    }

    fn add(&mut self, run: &Run, start: usize) {
        self.together &= self.end == start;
        self.end = start + run.len as usize;
        self.runs += 1;
        self.whole = false;
        self.first_cell = self.first_cell.min(run.start);
        self.end_cell = self.end_cell.max(run.start + run.len);
    }
}

impl<'a> BatchLayout<'a> {
    pub(super) fn new(tiles: &TileTable, runs: &'a [Run], threads: usize) -> Self {
        let cells = runs.iter().map(|run| run.len as usize).sum::<usize>();
        let mut uses: Vec<Use> = Vec::new();
        let mut use_of_slot = vec![u32::MAX; tiles.len()];
        let mut pieces = Vec::new();
        let piece_cells = if threads > 1 { (cells / (2 * threads)).max(PIECE_CELLS) } else { usize::MAX };
        let (mut start, mut piece_start, mut first_run) = (0, 0, 0);
        for (index, run) in runs.iter().enumerate() {
            let known = &mut use_of_slot[run.slot as usize];
            if let Some(used) = uses.get_mut(*known as usize) {
                used.add(run, start);
            } else {
                *known = u32::try_from(uses.len()).unwrap_or(u32::MAX);
                let whole = run.start == 0 && run.len as usize == tiles.get(run.slot).cells;
                uses.push(Use::of(run, start, index, whole));
            }
            start += run.len as usize;
            if start - piece_start >= piece_cells {
                pieces.push((first_run..index + 1, start - piece_start));
                (piece_start, first_run) = (start, index + 1);
            }
        }
        if start > piece_start {
            pieces.push((first_run..runs.len(), start - piece_start));
        }
        Self { runs, cells, uses, pieces }
    }

    /// Returns the bytes to gather from, by slot. Slots not in `uses` are empty.
    pub(super) fn sources<'t>(
        &self,
        tiles: &'t TileTable,
        uses: &[Use],
        bytes: impl Fn(&'t Tile) -> &'t [u8],
    ) -> Vec<&'t [u8]> {
        let mut sources: Vec<&[u8]> = vec![&[]; tiles.len()];
        for used in uses {
            sources[used.slot as usize] = bytes(tiles.get(used.slot));
        }
        sources
    }
}
