//! The R-tree: the MBR of each tile, and the nodes above them.

mod build;
mod format;

use std::ops::Range;
use tdb_types::saturating_len;

use crate::column::Column;
use crate::{DimRange, DimensionKind, NdRange};

/// The MBR of each tile of a sparse fragment, under inner nodes that each bound up to `fanout` nodes of the level below.
///
/// All nodes of all levels lie in one flat run per dimension, root first, tiles last. A dense fragment's tree is empty.
#[derive(Clone, Debug)]
pub struct RTree {
    kinds: Vec<DimensionKind>,
    fanout: u32,
    /// How many nodes the levels above each level have together, root first; one more entry says how many all have.
    starts: Vec<usize>,
    columns: Vec<Column>,
    /// Whether every inner node bounds its children.
    covering: bool,
}

/// Trees are equal if what is stored is; how they are searched depends on the version that they were read from, too.
impl PartialEq for RTree {
    fn eq(&self, other: &Self) -> bool {
        let same_shape = self.kinds == other.kinds && self.fanout == other.fanout && self.starts == other.starts;
        same_shape && self.columns == other.columns
    }
}

impl RTree {
    /// The fanout of every tree that the reference library writes.
    pub const FANOUT: u32 = 10;

    /// A tree without nodes, as dense fragments have it.
    #[must_use]
    pub fn empty(kinds: &[DimensionKind], fanout: u32) -> Self {
        let columns = kinds.iter().map(|kind| Column::new(*kind)).collect();
        Self { kinds: kinds.to_vec(), fanout, starts: vec![0], columns, covering: true }
    }

    /// The dimensions that the MBRs are of.
    #[must_use]
    pub fn kinds(&self) -> &[DimensionKind] {
        &self.kinds
    }

    /// How many children an inner node has, at most.
    #[must_use]
    pub fn fanout(&self) -> u32 {
        self.fanout
    }

    /// How many levels there are, that of the tiles included; 0 for a dense fragment.
    #[must_use]
    pub fn level_count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// How many tiles the tree knows.
    #[must_use]
    pub fn leaf_count(&self) -> u64 {
        self.leaves().len() as u64
    }

    /// The MBR of a tile, exactly as stored; none if there is no such tile.
    #[must_use]
    pub fn mbr(&self, tile: u64) -> Option<NdRange> {
        let leaves = self.leaves();
        let node = leaves.start.checked_add(usize::try_from(tile).ok()?).filter(|node| leaves.contains(node))?;
        self.node(node)
    }

    /// The box in which all cells of a tile lie for certain: its MBR, [widened](NdRange::widened), and without end in
    /// dimensions of strings where writers were known to store none; none if there is no such tile.
    #[must_use]
    pub fn bounds(&self, tile: u64) -> Option<NdRange> {
        let leaves = self.leaves();
        let node = leaves.start.checked_add(usize::try_from(tile).ok()?).filter(|node| leaves.contains(node))?;
        self.columns.iter().map(|column| column.bounds(node)).collect::<Option<Vec<DimRange>>>().map(NdRange)
    }

    /// The box in which all cells lie for certain; none if there are no tiles, or the root doesn't bound them.
    #[must_use]
    pub fn hull(&self) -> Option<NdRange> {
        let root = self.level(0);
        if root.len() != 1 || !self.covering {
            return None;
        }
        self.columns.iter().map(|column| column.bounds(root.start)).collect::<Option<Vec<DimRange>>>().map(NdRange)
    }

    /// Whether every inner node bounds its children, as it should. [`search`](Self::search) then descends from the root;
    /// in a tree whose inner nodes hide tiles it looks at each tile instead, so it always finds all.
    #[must_use]
    pub fn is_covering(&self) -> bool {
        self.covering
    }

    /// Bytes of memory that the tree takes.
    #[must_use]
    pub fn memory_used(&self) -> usize {
        self.columns.iter().map(Column::memory).sum::<usize>().saturating_add(size_of_val(&*self.starts))
    }

    /// The nodes of a level, the root's level being 0.
    pub(crate) fn level(&self, level: usize) -> Range<usize> {
        match self.starts.get(level..) {
            Some([start, end, ..]) => *start..*end,
            _ => 0..0,
        }
    }

    /// The nodes of the last level: the tiles.
    pub(crate) fn leaves(&self) -> Range<usize> {
        self.level(self.level_count().saturating_sub(1))
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The children of the node that is number `index` of its level, as numbers of the next level.
    pub(crate) fn children(&self, level: usize, index: usize) -> Range<usize> {
        let fanout = self.fanout_usize();
        let count = self.level(level.saturating_add(1)).len();
        let first = index.saturating_mul(fanout).min(count);
        first..first.saturating_add(fanout).min(count)
    }

    /// The tiles below the node that is number `index` of its level.
    pub(crate) fn tiles_below(&self, level: usize, index: usize) -> Range<usize> {
        let count = self.leaves().len();
        let fanout = self.fanout_usize();
        let below = self.level_count().saturating_sub(1).saturating_sub(level);
        let mut tiles = index..index.saturating_add(1);
        for _ in 0..below {
            tiles = tiles.start.saturating_mul(fanout)..tiles.end.saturating_mul(fanout);
        }
        tiles.start.min(count)..tiles.end.min(count)
    }

    fn fanout_usize(&self) -> usize {
        saturating_len(self.fanout)
    }

    fn node(&self, node: usize) -> Option<NdRange> {
        self.columns.iter().map(|column| column.get(node)).collect::<Option<Vec<DimRange>>>().map(NdRange)
    }

    /// Checks that every inner node bounds its children. It costs a pass over the bounds, which parsing made warm.
    fn check_covering(&mut self) {
        self.covering = (1..self.level_count()).all(|level| {
            let (parents, children) = (self.level(level - 1), self.level(level));
            parents.enumerate().all(|(index, parent)| {
                let below = self.children(level - 1, index);
                let nodes = children.start.saturating_add(below.start)..children.start.saturating_add(below.end);
                self.columns.iter().all(|column| column.covers(parent, nodes.clone()))
            })
        });
    }
}
