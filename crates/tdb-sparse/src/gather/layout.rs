//! Where in a batch the cells of each tile go.

use std::ops::Range;

use crate::table::{Run, Tile, TileTable};

/// The runs of a batch, by tile and in pieces.
#[derive(Debug)]
pub(super) struct BatchLayout<'a> {
    pub(super) runs: &'a [Run],
    pub(super) cells: usize,
    /// The tiles that cells come from, in the order in which they are first needed.
    pub(super) uses: Vec<Use>,
    /// Parts of the batch for threads to share: consecutive runs and how many cells they have.
    pub(super) pieces: Vec<(Range<usize>, usize)>,
}

/// A tile that cells of a batch come from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) slot: u32,
    /// Where its first cell goes.
    pub(super) start: usize,
    /// Where the last one of them ends.
    pub(super) end: usize,
    /// The first run of its cells.
    pub(super) first_run: usize,
    /// How many runs of its cells there are.
    pub(super) runs: usize,
    /// Whether these follow one another in the batch.
    pub(super) together: bool,
    /// Whether all its cells go there, in their order.
    pub(super) whole: bool,
    /// The lowest of its cells.
    pub(super) first_cell: u32,
    /// The one behind the highest.
    pub(super) end_cell: u32,
}

/// Pieces smaller than this are not worth a thread.
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

    /// For each slot of some tiles the bytes to gather from.
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
