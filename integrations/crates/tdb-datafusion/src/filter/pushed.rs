//! What became of filters, and how they combine.

use tdb_array::tdb_condition::Condition;

/// What became of a filter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pushed {
    pub(crate) condition: Condition,
    /// Whether it is true of the same rows as the filter, and not of more.
    pub(crate) exact: bool,
}

impl Pushed {
    pub(super) fn exact(condition: Condition) -> Self {
        Self { condition, exact: true }
    }

    pub(super) fn wider(condition: Condition) -> Self {
        Self { condition, exact: false }
    }

    /// True of all rows, or of none.
    pub(super) fn constant(truth: bool) -> Self {
        Self::exact(if truth { Condition::And(Vec::new()) } else { Condition::Or(Vec::new()) })
    }
}

/// Whether a condition is the one that no row fulfils.
pub(crate) fn is_never(condition: &Condition) -> bool {
    matches!(condition, Condition::Or(nodes) if nodes.is_empty())
}

/// Whether a condition is the one that every row fulfils.
pub(crate) fn is_always(condition: &Condition) -> bool {
    matches!(condition, Condition::And(nodes) if nodes.is_empty())
}

/// All of them hold. Those of which nothing is known may be left out: then it holds for more rows.
pub(crate) fn all(nodes: impl IntoIterator<Item = Option<Pushed>>) -> Option<Pushed> {
    let (mut conditions, mut exact) = (Vec::new(), true);
    for node in nodes {
        let Some(node) = node else {
            exact = false;
            continue;
        };
        exact &= node.exact;
        if is_never(&node.condition) {
            return Some(Pushed { condition: node.condition, exact: true });
        }
        match node.condition {
            Condition::And(nodes) => conditions.extend(nodes),
            one => conditions.push(one),
        }
    }
    if conditions.is_empty() && !exact {
        return None;
    }
    let condition = match conditions.len() {
        1 => conditions.pop()?,
        _ => Condition::And(conditions),
    };
    Some(Pushed { condition, exact })
}

/// One of them holds.
pub(super) fn any(nodes: impl IntoIterator<Item = Option<Pushed>>) -> Option<Pushed> {
    let (mut conditions, mut exact) = (Vec::new(), true);
    for node in nodes {
        let node = node?;
        exact &= node.exact;
        if is_always(&node.condition) {
            return Some(node);
        }
        match node.condition {
            Condition::Or(nodes) => conditions.extend(nodes),
            one => conditions.push(one),
        }
    }
    let condition = match conditions.len() {
        1 => conditions.pop()?,
        _ => Condition::Or(conditions),
    };
    Some(Pushed { condition, exact })
}
