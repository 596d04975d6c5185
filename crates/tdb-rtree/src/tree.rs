//! The R-tree: the MBRs of tiles, and the inner nodes above them.

mod build;
mod format;

use std::ops::Range;
use tdb_types::saturating_len;

use crate::column::Column;
use crate::{DimRange, DimensionKind, NdRange};

/// The MBRs of a sparse fragment's tiles, with inner nodes that bound up to `fanout` nodes of the
/// next level.
///
/// All nodes are stored in a flat list per dimension, from the root to the tiles. The tree of a
/// dense fragment is empty.
#[derive(Clone, Debug)]
pub struct RTree {
    kinds: Vec<DimensionKind>,
    fanout: u32,
    /// The index of each level's first node, root first, followed by the total number of nodes.
    starts: Vec<usize>,
    pub(crate) columns: Vec<Column>,
    /// `true` if every inner node contains its children.
    covering: bool,
}

/// Trees are equal if their stored form is equal. The comparison ignores the format version that a
/// tree was read from, although it also affects searches.
impl PartialEq for RTree {
    fn eq(&self, other: &Self) -> bool {
        let same_shape = self.kinds == other.kinds && self.fanout == other.fanout && self.starts == other.starts;
        same_shape && self.columns == other.columns
    }
}

impl RTree {
    /// The fanout of all trees written by the reference library.
    pub const FANOUT: u32 = 10;

    /// Creates a tree without nodes, as in dense fragments.
    #[must_use]
    pub fn empty(kinds: &[DimensionKind], fanout: u32) -> Self {
        let columns = kinds.iter().map(|kind| Column::new(*kind)).collect();
        Self { kinds: kinds.to_vec(), fanout, starts: vec![0], columns, covering: true }
    }

    /// Returns the dimensions of the MBRs.
    #[must_use]
    pub fn kinds(&self) -> &[DimensionKind] {
        &self.kinds
    }

    /// Returns the maximum number of children per inner node.
    #[must_use]
    pub fn fanout(&self) -> u32 {
        self.fanout
    }

    /// Returns the number of levels, including the tiles. Returns 0 for an empty tree, as in dense
    /// fragments.
    #[must_use]
    pub fn level_count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Returns the number of tiles.
    #[must_use]
    pub fn leaf_count(&self) -> u64 {
        self.leaves().len() as u64
    }

    /// Returns the MBR of a tile exactly as stored, or `None` if the tile does not exist.
    #[must_use]
    pub fn mbr(&self, tile: u64) -> Option<NdRange> {
        self.node(self.leaves().nth(usize::try_from(tile).ok()?)?)
    }

    /// Returns bounds guaranteed to contain all cells of a tile, or `None` if the tile does not
    /// exist.
    ///
    /// The bounds are the [widened](NdRange::widened) MBR. Where writers of the format version
    /// stored unreliable ranges, dimensions of dates are unbounded, and dimensions of strings are
    /// unbounded above if the lower bound is empty.
    #[must_use]
    pub fn bounds(&self, tile: u64) -> Option<NdRange> {
        let node = self.leaves().nth(usize::try_from(tile).ok()?)?;
        self.columns.iter().map(|column| column.bounds(node)).collect::<Option<Vec<DimRange>>>().map(NdRange)
    }

    /// Returns bounds guaranteed to contain all cells. Returns `None` if there is no single root,
    /// or an inner node does not contain its children.
    #[must_use]
    pub fn hull(&self) -> Option<NdRange> {
        let root = self.level(0);
        if root.len() != 1 || !self.covering {
            return None;
        }
        self.columns.iter().map(|column| column.bounds(root.start)).collect::<Option<Vec<DimRange>>>().map(NdRange)
    }

    /// Returns `true` if every inner node contains its children.
    ///
    /// A [`search`](Self::search) then descends from the root. Otherwise it compares each tile, so
    /// that faulty inner nodes hide no tiles.
    #[must_use]
    pub fn is_covering(&self) -> bool {
        self.covering
    }

    /// Returns the memory used by the nodes of the tree, in bytes.
    #[must_use]
    pub fn memory_used(&self) -> usize {
        self.columns.iter().map(Column::memory).sum::<usize>().saturating_add(size_of_val(&*self.starts))
    }

    /// Returns the nodes of a level. The root is level 0.
    pub(crate) fn level(&self, level: usize) -> Range<usize> {
        match self.starts.get(level..) {
            Some([start, end, ..]) => *start..*end,
            _ => 0..0,
        }
    }

    /// Returns the nodes of the last level, the tiles.
    pub(crate) fn leaves(&self) -> Range<usize> {
        self.level(self.level_count().saturating_sub(1))
    }

    /// Returns the children of node `index` of a level, as indices in the next level.
    pub(crate) fn children(&self, level: usize, index: usize) -> Range<usize> {
        let fanout = self.fanout_usize();
        let count = self.level(level.saturating_add(1)).len();
        let first = index.saturating_mul(fanout).min(count);
        first..first.saturating_add(fanout).min(count)
    }

    /// Returns the tiles below node `index` of a level.
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

    /// Checks that every inner node contains its children. Called right after the nodes were added,
    /// while the bounds are still in the cache.
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
