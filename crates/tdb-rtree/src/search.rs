//! Which tiles may hold cells of a query.

mod boxes;
mod selection;

use std::ops::Range;

pub use self::boxes::BoxedTile;
use self::selection::Selection;
use crate::nd_range::check_kind;
use crate::{DimRange, RTree, RTreeError, Result};

/// How much of a tile a query wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coverage {
    /// The tile's MBR lies inside the query: every cell of the tile is wanted, and needs no comparison.
    Full,
    /// The MBR and the query have something in common: some cells may be wanted.
    Partial,
}

impl RTree {
    /// The tiles that may hold cells which are in one of the ranges of every dimension, in the order of the tiles.
    ///
    /// `query` has a list of ranges for each dimension. They may come in any order and overlap; of an empty list, and of a
    /// range whose end is below its start, nothing is wanted. Neighbours are taken together: integers 1 to 4 and 5 to 9 cover
    /// a tile with 3 to 7. Where a bound is a floating-point zero, both zeros are meant.
    ///
    /// # Errors
    /// The ranges don't suit the dimensions.
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

/// The tiles that a [search](RTree::search) finds, one after the other, found as they are asked for.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    tree: &'a RTree,
    /// What is wanted in each dimension.
    selections: Vec<Selection<'a>>,
    /// From the root down, the siblings that are still to be looked at.
    stack: Vec<Siblings>,
    /// Tiles below a node that is wanted as a whole.
    whole: Range<usize>,
    /// How many nodes may still be compared.
    left: u64,
}

/// Nodes of one level that stand next to each other; those before `next` have been compared.
#[derive(Clone, Debug)]
struct Siblings {
    level: usize,
    next: usize,
    end: usize,
    /// The node that bit 0 of the masks stands for.
    base: usize,
    /// Nodes that have something in common with the query, and are still to be visited.
    hit: u64,
    /// Nodes that lie inside the query.
    inside: u64,
}

impl<'a> Search<'a> {
    fn new(tree: &'a RTree, selections: Vec<Selection<'a>>) -> Self {
        // Inner nodes that don't cover their children would hide tiles; without them every tile is compared.
        let level = if tree.is_covering() { 0 } else { tree.level_count().saturating_sub(1) };
        let mut search = Self { tree, selections, stack: Vec::new(), whole: 0..0, left: u64::MAX };
        search.push(level, 0..tree.level(level).len());
        search
    }

    /// The same search, which gives up when it has compared so many nodes. Nodes may overlap as they like, so that a search
    /// which finds nothing may have to compare all of them.
    #[must_use]
    pub fn limited_to(self, nodes: u64) -> Self {
        Self { left: nodes, ..self }
    }

    /// How many nodes may still be compared; 0 after giving up.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    fn push(&mut self, level: usize, nodes: Range<usize>) {
        let Range { start: next, end } = nodes;
        self.stack.push(Siblings { level, next, end, base: next, hit: 0, inside: 0 });
    }

    /// Compares up to 64 nodes of `level`, from number `base` on. Bit `i` stands for node `base + i`: first those that have
    /// something in common with the query, then those inside it.
    fn compare(&self, level: usize, base: usize, count: usize) -> (u64, u64) {
        let first = self.tree.level(level).start.saturating_add(base);
        let nodes = first..first.saturating_add(count);
        let mut masks = (u64::MAX >> (64 - count.clamp(1, 64)), u64::MAX);
        for (selection, column) in self.selections.iter().zip(self.tree.columns()) {
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
