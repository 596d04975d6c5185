//! The next cell of each lane, ordered by key.

use std::cmp::Ordering;

use tdb_cells::order::key::Key;

/// The next cell of a lane, or a lower bound of the unloaded cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<K> {
    /// Key of the next cell, or a lower bound of the unloaded keys.
    pub(super) key: K,
    /// Lane of the cell. `None` for unloaded cells.
    pub(super) lane: Option<usize>,
}

/// The heads of lanes, in descending order.
///
/// Keys are in a separate vector for vectorized comparison.
#[derive(Debug)]
pub(super) struct Heads<K> {
    keys: Vec<K>,
    lanes: Vec<Option<usize>>,
}

impl<K: Key> Heads<K> {
    /// Sorts heads. `compare` orders heads with equal keys.
    pub(super) fn new(mut heads: Vec<Head<K>>, compare: impl Fn(&Head<K>, &Head<K>) -> Ordering) -> Self {
        heads.sort_by(|a, b| b.key.cmp(&a.key).then_with(|| compare(b, a)));
        let keys = heads.iter().map(|head| head.key).collect();
        Self { keys, lanes: heads.iter().map(|head| head.lane).collect() }
    }

    /// Inserts a head. `compare` orders heads with equal keys.
    #[inline]
    pub(super) fn insert(&mut self, head: Head<K>, compare: impl Fn(&Head<K>, &Head<K>) -> Ordering) {
        let mut place = self.above(head.key);
        // Heads with equal keys are rare.
        while let Some(other) = self.get(place)
            && other.key == head.key
            && compare(&other, &head).is_gt()
        {
            place += 1;
        }
        self.keys.insert(place, head.key);
        self.lanes.insert(place, head.lane);
    }

    /// Returns the number of heads with keys above `key`.
    #[inline]
    fn above(&self, key: K) -> usize {
        /// Up to this number, a linear scan is faster than the jumps of a binary search.
        const FEW: usize = 32;
        if self.keys.len() <= FEW {
            self.keys.iter().map(|other| usize::from(*other > key)).sum()
        } else {
            self.keys.partition_point(|other| *other > key)
        }
    }

    #[inline]
    fn get(&self, place: usize) -> Option<Head<K>> {
        Some(Head { key: *self.keys.get(place)?, lane: *self.lanes.get(place)? })
    }

    /// Returns the lowest head.
    #[inline]
    pub(super) fn last(&self) -> Option<Head<K>> {
        self.get(self.keys.len().checked_sub(1)?)
    }

    /// Removes and returns the lowest head.
    pub(super) fn pop(&mut self) -> Option<Head<K>> {
        Some(Head { key: self.keys.pop()?, lane: self.lanes.pop()? })
    }
}
