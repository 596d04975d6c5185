//! Which cells of a tile are wanted, while it is looked at.

use std::ops::Range;

use tdb_cells::order::coordinates::indices;
use tdb_snapshot::tiles::BLOCK;

/// Which cells of a tile are wanted, as far as is known: all to begin with.
#[derive(Debug)]
pub(super) struct Mask {
    /// By cell, once some may be unwanted.
    flags: Vec<bool>,
    is_used: bool,
    cells: usize,
}

impl Mask {
    /// `memory` is used again, whatever it holds.
    pub(super) fn new(memory: Vec<bool>, cells: usize) -> Self {
        Self { flags: memory, is_used: false, cells }
    }

    /// To clear those that aren't wanted.
    pub(super) fn flags(&mut self) -> &mut [bool] {
        if !self.is_used {
            self.is_used = true;
            self.flags.clear();
            self.flags.resize(self.cells, true);
        }
        &mut self.flags
    }

    /// How many cells there are.
    pub(super) fn len(&self) -> usize {
        self.cells
    }

    /// Whether no cell is wanted.
    pub(super) fn is_empty(&self) -> bool {
        self.cells == 0 || self.is_used && !self.flags.contains(&true)
    }

    /// Consecutive cells that hold all wanted ones: whole blocks, without those that no cell is wanted of unless they are few.
    pub(super) fn runs(&self) -> Vec<Range<usize>> {
        /// To read a few blocks more costs less than to begin anew behind them.
        const GAP: usize = 2 * BLOCK;
        let mut runs: Vec<Range<usize>> = Vec::new();
        if !self.is_used {
            runs.extend((self.cells > 0).then_some(0..self.cells));
            return runs;
        }
        for (block, flags) in self.flags.chunks(BLOCK).enumerate() {
            // Without an early end this is a few instructions for many cells.
            if !flags.iter().fold(false, |any, wanted| any | wanted) {
                continue;
            }
            let (start, end) = (block * BLOCK, block * BLOCK + flags.len());
            match runs.last_mut() {
                Some(last) if start - last.end <= GAP => last.end = end,
                _ => runs.push(start..end),
            }
        }
        runs
    }

    /// The wanted cells; none if all are.
    pub(super) fn kept(&self) -> Option<Vec<u32>> {
        let all = !self.is_used || self.flags.iter().fold(true, |all, wanted| all & wanted);
        (!all).then(|| indices(&self.flags))
    }

    /// The memory, to be used again.
    pub(super) fn into_memory(self) -> Vec<bool> {
        self.flags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_hold_all_wanted_cells() {
        let cells = 9 * BLOCK + 5;
        let mut mask = Mask::new(vec![false], cells);
        assert_eq!(mask.runs().first(), Some(&(0..cells)));
        mask.flags().fill(false);
        assert!(mask.is_empty() && mask.runs().is_empty());
        for cell in [BLOCK, 3 * BLOCK - 1, 5 * BLOCK, cells - 1] {
            mask.flags()[cell] = true;
        }
        assert_eq!(mask.runs(), [BLOCK..6 * BLOCK, 9 * BLOCK..cells]);
        assert_eq!(mask.kept(), Some(vec![1024, 3071, 5120, 9220]));
        assert!(Mask::new(Vec::new(), 0).runs().is_empty());
    }
}
