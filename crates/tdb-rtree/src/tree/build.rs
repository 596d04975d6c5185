//! Construction of inner nodes, identical to the reference library's.

use super::RTree;
use crate::column::Column;
use crate::{DimensionKind, NdRange, RTreeError, Result};

impl RTree {
    /// Builds a tree over the MBRs of tiles, in tile order. Without tiles, the result is the empty
    /// tree of a dense fragment.
    ///
    /// Each inner node bounds the next `fanout` nodes of the level below. Levels are added until a
    /// single node remains. The reference library computes the number of levels with floating-point
    /// logarithms. With [its fanout](Self::FANOUT) of 10, the result is the same for up to 10^15
    /// tiles.
    ///
    /// # Errors
    /// Fails if the fanout is less than 2 or an MBR does not match the dimensions.
    pub fn build(kinds: &[DimensionKind], tiles: &[NdRange], fanout: u32) -> Result<Self> {
        Self::of_leaves(kinds, fanout, tiles.len(), |columns| {
            for mbr in tiles {
                mbr.check(kinds)?;
                columns.iter_mut().zip(&mbr.0).for_each(|(column, range)| column.push(range));
            }
            Ok(())
        })
    }

    /// Builds the same tree as [`build`](Self::build) from this tree's MBRs, without an
    /// intermediate list of MBRs.
    ///
    /// # Errors
    /// Fails if the fanout is less than 2.
    pub fn rebuilt(&self) -> Result<Self> {
        let leaves = self.leaves();
        Self::of_leaves(&self.kinds, self.fanout, leaves.len(), |columns| {
            for (column, own) in columns.iter_mut().zip(&self.columns) {
                leaves.clone().filter_map(|leaf| own.get(leaf)).for_each(|range| column.push(&range));
            }
            Ok(())
        })
    }

    /// Builds a tree over `count` tiles. `add` must append the MBRs of the tiles to the columns.
    fn of_leaves(
        kinds: &[DimensionKind],
        fanout: u32,
        count: usize,
        add: impl FnOnce(&mut [Column]) -> Result<()>,
    ) -> Result<Self> {
        if fanout < 2 {
            return Err(RTreeError::Fanout { fanout });
        }
        let mut tree = Self::empty(kinds, fanout);
        if count == 0 {
            return Ok(tree);
        }
        tree.columns.iter_mut().for_each(|column| column.reserve(count));
        add(&mut tree.columns)?;
        tree.starts.push(count);
        Ok(tree.with_inner_levels())
    }

    /// Builds the inner levels above `self`, which contains only tiles.
    pub(super) fn with_inner_levels(self) -> Self {
        let fanout = self.fanout_usize().max(2);
        let mut counts = vec![self.leaves().len()];
        let mut levels = vec![self.columns];
        while let (Some(&count), Some(below)) = (counts.last(), levels.last()) {
            if count <= 1 {
                break;
            }
            levels.push(level_above(below, &self.kinds, count, fanout));
            counts.push(count.div_ceil(fanout));
        }
        let mut tree = Self::empty(&self.kinds, self.fanout);
        for (columns, count) in levels.iter().zip(counts).rev().filter(|(_, count)| *count > 0) {
            for (column, part) in tree.columns.iter_mut().zip(columns) {
                column.append(part);
            }
            tree.starts.push(tree.starts.last().copied().unwrap_or_default().saturating_add(count));
        }
        tree.check_covering();
        tree
    }
}

/// Builds the nodes above the `count` nodes in `below`, with `fanout` children each.
fn level_above(below: &[Column], kinds: &[DimensionKind], count: usize, fanout: usize) -> Vec<Column> {
    let parent = |(column, kind): (&Column, &DimensionKind)| {
        let mut level = Column::new(*kind);
        level.reserve(count.div_ceil(fanout));
        for first in (0..count).step_by(fanout) {
            level.push_parent(column, first..first.saturating_add(fanout).min(count));
        }
        level
    };
    below.iter().zip(kinds).map(parent).collect()
}
