//! Simplification of a condition by known values.

use tdb_types::Cells;

use crate::bind::{BoundCondition, Node, Test};
use crate::evaluate::judge;

impl BoundCondition {
    /// Simplifies the condition for cells with the same value in some fields.
    ///
    /// `values` has an entry per field of [`fields`](Self::fields), in that order: a single cell if
    /// all cells have the same value, else `None`. The returned condition does not test fields with
    /// known values, but has the same [`fields`](Self::fields).
    #[must_use]
    pub fn assuming(&self, values: &[Option<Cells<'_>>]) -> Self {
        let known = |field: usize, test: &Test| values.get(field)?.as_ref().map(|cell| judge(test, cell));
        Self { fields: self.fields.clone(), root: assume(&self.root, &known) }
    }
}

/// Removes the tests with a known result.
fn assume(node: &Node, known: &dyn Fn(usize, &Test) -> Option<bool>) -> Node {
    let (nodes, neutral) = match node {
        Node::Constant(_) => return node.clone(),
        Node::Test { field, test } => return known(*field, test).map_or_else(|| node.clone(), Node::Constant),
        Node::And(nodes) => (nodes, true),
        Node::Or(nodes) => (nodes, false),
    };
    let mut left = Vec::new();
    for node in nodes {
        match assume(node, known) {
            Node::Constant(truth) if truth == neutral => {}
            Node::Constant(truth) => return Node::Constant(truth),
            other => left.push(other),
        }
    }
    match (left.len(), left.pop()) {
        (0, _) => Node::Constant(neutral),
        (1, Some(only)) => only,
        (_, last) => {
            left.extend(last);
            if neutral { Node::And(left) } else { Node::Or(left) }
        }
    }
}
