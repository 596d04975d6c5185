//! Translated filters, and their combination.

use tdb_array::tdb_condition::Condition;

/// A translated filter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pushed {
    pub(crate) condition: Condition,
    /// `true` if the condition holds for the same rows as the filter, `false` if it may hold for
    /// more.
    pub(crate) exact: bool,
}

impl Pushed {
    pub(super) fn exact(condition: Condition) -> Self {
        Self { condition, exact: true }
    }

    pub(super) fn wider(condition: Condition) -> Self {
        Self { condition, exact: false }
    }

    /// Creates a condition for all rows or no row.
    pub(super) fn constant(truth: bool) -> Self {
        Self::exact(if truth { Condition::And(Vec::new()) } else { Condition::Or(Vec::new()) })
    }
}

/// Returns `true` for the condition without any matching row.
pub(crate) fn is_never(condition: &Condition) -> bool {
    matches!(condition, Condition::Or(nodes) if nodes.is_empty())
}

/// Returns `true` for the condition that every row matches.
pub(crate) fn is_always(condition: &Condition) -> bool {
    matches!(condition, Condition::And(nodes) if nodes.is_empty())
}

/// Returns the only condition, or combines several.
pub(super) fn one_or(mut conditions: Vec<Condition>, several: fn(Vec<Condition>) -> Condition) -> Condition {
    match conditions.pop() {
        Some(only) if conditions.is_empty() => only,
        last => several(conditions.into_iter().chain(last).collect()),
    }
}

/// Combines filters by AND. Filters without translation are dropped, which makes the result wider.
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
    Some(Pushed { condition: one_or(conditions, Condition::And), exact })
}

/// Combines filters by OR.
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
    Some(Pushed { condition: one_or(conditions, Condition::Or), exact })
}
