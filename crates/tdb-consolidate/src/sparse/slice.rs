//! A part of the global order.

use tdb_cells::order::key::Key;

/// A part of the order: from a key, and before another one if something follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice<K> {
    pub(super) from: K,
    pub(super) below: Option<K>,
}

impl<K: Key> Slice<K> {
    /// All of the order.
    pub(super) fn all() -> Self {
        Self { from: K::default(), below: None }
    }

    pub(super) fn contains(&self, key: K) -> bool {
        self.from <= key && self.below.is_none_or(|below| key < below)
    }
}
