//! Search for the tiles that intersect a set of boxes.

use std::ops::Range;
use std::rc::Rc;

use super::Coverage;
use crate::{Boxes, RTree};

/// A tile that may contain cells of boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxedTile<'a> {
    /// Index of the tile.
    pub tile: u64,
    /// The selected part of the tile. [`Coverage::Full`] if a single box contains the MBR.
    pub coverage: Coverage,
    /// Indices of the boxes that intersect the MBR, ascending. Empty if the coverage is full.
    pub boxes: &'a [u32],
}

impl RTree {
    /// Calls `found` for each tile that may contain a cell of a box, in tile order.
    ///
    /// All boxes are searched at once. The children of a node are compared only with the boxes that
    /// intersect the node. Boxes whose dimensions do not match those of the tree find no tiles.
    pub fn search_boxes(&self, boxes: &Boxes, found: &mut impl FnMut(BoxedTile<'_>)) {
        if boxes.is_empty() || !boxes.are_of(self.kinds()) {
            return;
        }
        // Inner nodes that do not contain their children would hide tiles, so every tile is
        // compared instead.
        let level = if self.is_covering() { 0 } else { self.level_count().saturating_sub(1) };
        let mut stack = vec![Siblings { level, nodes: 0..self.level(level).len(), some: None }];
        while let Some(mut siblings) = stack.pop() {
            let Some(node) = siblings.nodes.next() else { continue };
            let (level, some) = (siblings.level, siblings.some.clone());
            // A tree of nodes with a single child may be arbitrarily deep. Finished siblings are
            // therefore not kept.
            if !siblings.nodes.is_empty() {
                stack.push(siblings);
            }
            let place = self.level(level).start.saturating_add(node);
            let Some(places) = boxes.places_of_node(&self.columns, place) else { continue };
            let meeting = boxes.meeting_places(&places, some.as_deref());
            if meeting.is_empty() {
                continue;
            }
            if boxes.cover_places(&places, &meeting) {
                for tile in self.tiles_below(level, node) {
                    found(BoxedTile { tile: tile as u64, coverage: Coverage::Full, boxes: &[] });
                }
            } else if level + 1 >= self.level_count() {
                found(BoxedTile { tile: node as u64, coverage: Coverage::Partial, boxes: &meeting });
            } else {
                stack.push(Siblings {
                    level: level + 1,
                    nodes: self.children(level, node),
                    some: Some(meeting.into()),
                });
            }
        }
    }
}

/// Adjacent nodes of a level, and the boxes that intersect their parent. `None` represents all
/// boxes.
struct Siblings {
    level: usize,
    nodes: Range<usize>,
    some: Option<Rc<[u32]>>,
}
