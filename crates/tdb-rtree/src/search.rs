//! Search for the tiles relevant to a query.

mod boxes;
mod selection;

use std::ops::Range;

pub use self::boxes::BoxedTile;
use self::selection::Selection;
use crate::nd_range::check_kind;
use crate::{DimRange, RTree, RTreeError, Result};

/// The part of a tile selected by a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coverage {
    /// The query contains the tile's MBR, so every cell is selected without comparison.
    Full,
    /// The query intersects the MBR but does not contain it, so some cells may be selected.
    Partial,
}

impl RTree {
    /// Finds the tiles that may contain cells in one of the ranges of every dimension, in tile
    /// order.
    ///
    /// `query` contains a list of ranges for each dimension. The ranges may overlap and be in any
    /// order. Empty lists and empty ranges select no cells. Adjacent ranges are merged, so the
    /// integers 1 to 4 and 5 to 9 contain a tile with 3 to 7. A bound of `0.0` or `-0.0` includes
    /// both zeros.
    ///
    /// # Errors
    /// Fails if the ranges do not match the dimensions.
    pub fn search<'a, R: AsRef<[DimRange]>>(&'a self, query: &'a [R]) -> Result<Search<'a>> {
        if query.len() != self.kinds().len() {
            return Err(RTreeError::DimensionCount { found: query.len(), expected: self.kinds().len() });
        }
        let mut selections = Vec::with_capacity(query.len());
        for (dimension, (ranges, kind)) in query.iter().zip(self.kinds()).enumerate() {
            let ranges = ranges.as_ref();
            for range in ranges {
                check_kind(dimension, range, *kind)?;
            }
            selections.push(Selection::new(ranges, *kind));
        }
        Ok(Search::new(self, selections))
    }
}

/// A lazy iterator over the tiles found by a [search](RTree::search).
#[derive(Clone, Debug)]
pub struct Search<'a> {
    tree: &'a RTree,
    /// The selected ranges of each dimension.
    selections: Vec<Selection<'a>>,
    /// Pending siblings, from the root down.
    stack: Vec<Siblings>,
    /// Remaining tiles below a fully selected node.
    whole: Range<usize>,
    /// Number of nodes that remain until the limit.
    left: u64,
}

/// Adjacent nodes of a level. Nodes before `next` have been compared.
#[derive(Clone, Debug)]
struct Siblings {
    level: usize,
    next: usize,
    end: usize,
    /// The node of bit 0 in the masks.
    base: usize,
    /// Nodes that intersect the query and are still to be visited.
    hit: u64,
    /// Nodes contained in the query.
    inside: u64,
}

impl<'a> Search<'a> {
    fn new(tree: &'a RTree, selections: Vec<Selection<'a>>) -> Self {
        // Inner nodes that do not contain their children would hide tiles, so every tile is
        // compared instead.
        let level = if tree.is_covering() { 0 } else { tree.level_count().saturating_sub(1) };
        let mut search = Self { tree, selections, stack: Vec::new(), whole: 0..0, left: u64::MAX };
        search.push(level, 0..tree.level(level).len());
        search
    }

    /// Stops the search before the number of compared nodes reaches `nodes`. Nodes may overlap
    /// arbitrarily, so even a search without results may compare all nodes.
    #[must_use]
    pub fn limited_to(self, nodes: u64) -> Self {
        Self { left: nodes, ..self }
    }

    /// Returns the number of nodes that remain until the limit, or 0 if the search stopped at the
    /// limit.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    fn push(&mut self, level: usize, nodes: Range<usize>) {
        let Range { start: next, end } = nodes;
        self.stack.push(Siblings { level, next, end, base: next, hit: 0, inside: 0 });
    }

    /// Compares up to 64 nodes of `level`, from index `base` on. Returns a mask of nodes that
    /// intersect the query, and a mask of nodes contained in the query. Bit `i` represents node
    /// `base + i`.
    fn compare(&self, level: usize, base: usize, count: usize) -> (u64, u64) {
        let first = self.tree.level(level).start.saturating_add(base);
        let nodes = first..first.saturating_add(count);
        let mut masks = (u64::MAX >> (64 - count.clamp(1, 64)), u64::MAX);
        for (selection, column) in self.selections.iter().zip(&self.tree.columns) {
            let (hit, inside) = selection.compare(column, nodes.clone());
            masks = (masks.0 & hit, masks.1 & inside);
            if masks.0 == 0 {
                break;
            }
        }
        masks
    }
}

impl Iterator for Search<'_> {
    type Item = (u64, Coverage);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(tile) = self.whole.next() {
                return Some((tile as u64, Coverage::Full));
            }
            let siblings = self.stack.last()?;
            let (level, base, hit) = (siblings.level, siblings.base, siblings.hit);
            if hit == 0 {
                let (next, count) = (siblings.next, siblings.end.saturating_sub(siblings.next).min(64));
                if count == 0 {
                    self.stack.pop();
                    continue;
                }
                self.left = self.left.saturating_sub(count as u64);
                if self.left == 0 {
                    self.stack.clear();
                    return None;
                }
                let (hit, inside) = self.compare(level, next, count);
                if let Some(siblings) = self.stack.last_mut() {
                    *siblings = Siblings { base: next, next: next + count, hit, inside, ..*siblings };
                }
                continue;
            }
            let bit = hit.trailing_zeros();
            let inside = siblings.inside >> bit & 1 == 1;
            if let Some(siblings) = self.stack.last_mut() {
                siblings.hit &= hit - 1;
            }
            let node = base.saturating_add(bit as usize);
            if inside {
                self.whole = self.tree.tiles_below(level, node);
            } else if level + 1 == self.tree.level_count() {
                return Some((node as u64, Coverage::Partial));
            } else {
                self.push(level + 1, self.tree.children(level, node));
            }
        }
    }
}

impl std::iter::FusedIterator for Search<'_> {}
