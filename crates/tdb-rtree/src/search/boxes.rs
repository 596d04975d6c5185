//! Which tiles may hold cells of many boxes.

use std::ops::Range;
use std::rc::Rc;

use super::Coverage;
use crate::{Boxes, RTree};

/// A tile that may hold cells of boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxedTile<'a> {
    /// Which tile.
    pub tile: u64,
    /// How much of it is wanted; it is full if a single box holds its MBR.
    pub coverage: Coverage,
    /// The boxes that share something with the MBR, ascending; none if the tile is full.
    pub boxes: &'a [u32],
}

impl RTree {
    /// Tells `found` of the tiles that may hold a cell of one of the boxes, in the order of the tiles. All boxes are searched at once:
    /// those that a node has something in common with are the ones that its children are compared with.
    ///
    /// Boxes that were made for other dimensions are in no tile.
    pub fn search_boxes(&self, boxes: &Boxes, found: &mut impl FnMut(BoxedTile<'_>)) {
        if boxes.is_empty() || !boxes.are_of(self.kinds()) {
            return;
        }
        // Inner nodes that don't cover their children would hide tiles.
        let level = if self.is_covering() { 0 } else { self.level_count().saturating_sub(1) };
        let mut stack = vec![Siblings { level, nodes: 0..self.level(level).len(), some: None }];
        while let Some(mut siblings) = stack.pop() {
            let Some(node) = siblings.nodes.next() else { continue };
            let (level, some) = (siblings.level, siblings.some.clone());
            // A tree may be as deep as it likes if its nodes have one child each: siblings that are done take no memory.
            if !siblings.nodes.is_empty() {
                stack.push(siblings);
            }
            let place = self.level(level).start.saturating_add(node);
            let Some(places) = boxes.places_of_node(self.columns(), place) else { continue };
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

/// Nodes of one level that stand next to each other, and the boxes that their parent has something in common with; all if none.
struct Siblings {
    level: usize,
    nodes: Range<usize>,
    some: Option<Rc<[u32]>>,
}
