//! A range of the global order.

use tdb_cells::order::key::Key;

/// A range of keys, from `from` up to and excluding `below`. Unbounded if `below` is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice<K> {
    pub(super) from: K,
    pub(super) below: Option<K>,
}

impl<K: Key> Slice<K> {
    /// Returns the range of all keys.
    pub(super) fn all() -> Self {
        Self { from: K::default(), below: None }
    }

    pub(super) fn contains(&self, key: K) -> bool {
        self.from <= key && self.below.is_none_or(|below| key < below)
    }
}
