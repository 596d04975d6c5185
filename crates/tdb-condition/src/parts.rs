//! Splitting of a condition into conjuncts.

use crate::bind::{BoundCondition, Node, Test};

impl BoundCondition {
    /// Splits the condition into the operands of its AND, each with only the fields that the
    /// operand tests. Returns a copy of a condition that is not an AND.
    ///
    /// The condition is true of the cells for which all parts are true. The cheapest parts come
    /// first, so later parts are needed only for cells that pass earlier parts.
    #[must_use]
    pub fn parts(&self) -> Vec<Self> {
        let Node::And(nodes) = &self.root else { return vec![self.clone()] };
        let mut parts: Vec<(u32, Self)> = nodes.iter().map(|node| (cost(node), self.part(node))).collect();
        parts.sort_by_key(|(cost, _)| *cost);
        parts.into_iter().map(|(_, part)| part).collect()
    }

    fn part(&self, node: &Node) -> Self {
        let mut part = Self { fields: Vec::new(), root: node.clone() };
        let fields = &mut part.fields;
        renumber(&mut part.root, &mut |field| {
            let needed = &self.fields[field];
            fields.iter().position(|known| known == needed).unwrap_or_else(|| {
                fields.push(needed.clone());
                fields.len() - 1
            })
        });
        part
    }
}

fn renumber(node: &mut Node, place: &mut dyn FnMut(usize) -> usize) {
    match node {
        Node::Constant(_) => {}
        Node::Test { field, .. } => *field = place(*field),
        Node::And(nodes) | Node::Or(nodes) => nodes.iter_mut().for_each(|node| renumber(node, place)),
    }
}

/// Returns the approximate cost of testing a cell, relative to a test for null.
fn cost(node: &Node) -> u32 {
    match node {
        Node::Constant(_) => 0,
        Node::Test { test, .. } => match test {
            Test::Null(_) => 1,
            Test::Nan(physical, _) => 2 + u32::try_from(physical.size()).unwrap_or(8),
            Test::Number { physical, .. } => 2 + u32::try_from(physical.size()).unwrap_or(8),
            Test::SmallSet { size, .. } => 12 + u32::try_from(*size).unwrap_or(8),
            Test::FirstChar { .. } => 3,
            Test::Bytes { size: Some(_), .. } => 30,
            Test::Set { size: Some(_), .. } => 60,
            Test::Bytes { .. } => 100,
            Test::Set { .. } => 150,
        },
        Node::And(nodes) | Node::Or(nodes) => nodes.iter().map(cost).fold(0, u32::saturating_add),
    }
}
