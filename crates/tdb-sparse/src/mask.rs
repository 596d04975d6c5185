//! Selection flags of a tile's cells while the tile is inspected.

use std::ops::Range;

use tdb_cells::order::coordinates::indices;
use tdb_snapshot::tiles::BLOCK;

/// Flags of possibly matching cells. Initially all cells are flagged.
#[derive(Debug)]
pub(super) struct Mask {
    /// A flag per cell, valid once `is_used`.
    pub(super) flags: Vec<bool>,
    is_used: bool,
    cells: usize,
}

impl Mask {
    /// Creates a mask on top of `memory`, ignoring the content.
    pub(super) fn new(memory: Vec<bool>, cells: usize) -> Self {
        Self { flags: memory, is_used: false, cells }
    }

    /// Returns the flags. Clear a flag to exclude the cell.
    pub(super) fn flags(&mut self) -> &mut [bool] {
        if !self.is_used {
            self.is_used = true;
            self.flags.clear();
            self.flags.resize(self.cells, true);
        }
        &mut self.flags
    }

    /// Returns the number of cells, excluded cells included.
    pub(super) fn len(&self) -> usize {
        self.cells
    }

    /// Returns `true` if no cell is left.
    pub(super) fn is_empty(&self) -> bool {
        self.cells == 0 || self.is_used && !self.flags.contains(&true)
    }

    /// Returns ranges of cells around all remaining cells. The ranges consist of whole blocks.
    /// Blocks without a remaining cell are skipped unless the gap is short.
    pub(super) fn runs(&self) -> Vec<Range<usize>> {
        /// Reading a few blocks costs less than a restart after the gap.
        const GAP: usize = 2 * BLOCK;
        let mut runs: Vec<Range<usize>> = Vec::new();
        if !self.is_used {
            runs.extend((self.cells > 0).then_some(0..self.cells));
            return runs;
        }
        for (block, flags) in self.flags.chunks(BLOCK).enumerate() {
            // Without an early exit, this compiles to a few instructions for many cells.
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

    /// Returns the indices of the remaining cells, or `None` if all cells remain.
    pub(super) fn kept(&self) -> Option<Vec<u32>> {
        let all = !self.is_used || self.flags.iter().fold(true, |all, wanted| all & wanted);
        (!all).then(|| indices(&self.flags))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_contain_all_wanted_cells() {
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
