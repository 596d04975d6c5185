//! A tree of MBRs that finds intersections without visiting every MBR.

use std::cell::Cell;

use super::facts::union;
use tdb_array::tdb_rtree::{DimRange, NdRange};

/// Maximum number of MBRs in a leaf.
const LEAF: usize = 8;

/// A tree of numbered MBRs.
#[derive(Debug)]
pub(super) struct Index<'b> {
    boxes: Vec<Option<&'b NdRange>>,
    /// Numbers of the MBRs, grouped by node.
    order: Vec<usize>,
    /// The nodes of the tree. The first child of a node is the next node.
    nodes: Vec<Node>,
    /// Number of comparisons, for tests.
    compared: Cell<u64>,
}

#[derive(Debug)]
struct Node {
    bounds: NdRange,
    /// Start of the node's MBRs in `order`.
    start: usize,
    /// End of the node's MBRs in `order`.
    end: usize,
    /// Second child. `None` for a leaf.
    second: Option<usize>,
}

impl<'b> Index<'b> {
    /// Builds the tree.
    pub(super) fn new(boxes: Vec<Option<&'b NdRange>>) -> Self {
        let order: Vec<usize> = (0..boxes.len()).filter(|number| boxes[*number].is_some()).collect();
        let mut index = Self { boxes, order, nodes: Vec::new(), compared: Cell::new(0) };
        index.build(0, index.order.len(), 0);
        index
    }

    fn build(&mut self, start: usize, end: usize, dimension: usize) -> usize {
        let own = self.nodes.len();
        let all = self.order[start..end].iter().filter_map(|number| self.boxes[*number]);
        let Some(bounds) = union(all) else { return own };
        let count = bounds.0.len().max(1);
        self.nodes.push(Node { bounds, start, end, second: None });
        if end - start > LEAF {
            let boxes = &self.boxes;
            let low = |number: &usize| match boxes[*number].and_then(|one| one.0.get(dimension)) {
                Some(DimRange::Fixed { lo, .. }) => *lo,
                _ => 0,
            };
            let middle = (end - start) / 2;
            self.order[start..end].select_nth_unstable_by_key(middle, low);
            self.build(start, start + middle, (dimension + 1) % count);
            let second = self.build(start + middle, end, (dimension + 1) % count);
            self.nodes[own].second = Some(second);
        }
        own
    }

    /// Returns `true` if an MBR intersects `wanted` and `counts` returns `true` for its number.
    pub(super) fn intersects(&self, wanted: &NdRange, counts: impl Fn(usize) -> bool) -> bool {
        let mut open = vec![0];
        while let Some(number) = open.pop() {
            let Some(node) = self.nodes.get(number) else { continue };
            self.compared.set(self.compared.get() + 1);
            if !node.bounds.intersects(wanted) {
                continue;
            }
            if let Some(second) = node.second {
                open.extend([second, number + 1]);
                continue;
            }
            for &number in self.order[node.start..node.end].iter().filter(|number| counts(**number)) {
                self.compared.set(self.compared.get() + 1);
                if self.boxes[number].is_some_and(|own| own.intersects(wanted)) {
                    return true;
                }
            }
        }
        false
    }

    #[cfg(test)]
    pub(super) fn compared(&self) -> u64 {
        self.compared.get()
    }
}

/// Returns the part of an MBR that is outside of a smaller MBR within it, as disjoint subarrays.
pub(super) fn difference(larger: &NdRange, smaller: &NdRange) -> Vec<NdRange> {
    let mut rest = larger.clone();
    let mut parts = Vec::new();
    for (dimension, own) in smaller.0.iter().enumerate() {
        let (DimRange::Fixed { lo, hi }, DimRange::Fixed { lo: own_lo, hi: own_hi }) = (rest.0[dimension].clone(), own)
        else {
            return vec![larger.clone()];
        };
        let mut part = |lo, hi| {
            let mut part = rest.clone();
            part.0[dimension] = DimRange::Fixed { lo, hi };
            parts.push(part);
        };
        if lo < *own_lo {
            part(lo, own_lo - 1);
        }
        if hi > *own_hi {
            part(own_hi + 1, hi);
        }
        rest.0[dimension] = own.clone();
    }
    parts
}
