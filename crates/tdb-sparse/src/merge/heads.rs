//! Where lanes stand that have cells left, and how far they may go on.

use std::cmp::Ordering;

use tdb_cells::order::key::Key;

/// The lowest place of the cells that a lane has left, or of those that aren't at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<K> {
    /// The key of the next cell, or one not above that of any cell that isn't at hand.
    pub(super) key: K,
    /// The lane of the cell; none if it isn't at hand.
    pub(super) lane: Option<usize>,
}

/// The heads of lanes, the lowest last.
///
/// Keys lie apart from the rest so that many are compared at once.
#[derive(Debug)]
pub(super) struct Heads<K> {
    keys: Vec<K>,
    lanes: Vec<Option<usize>>,
}

impl<K: Key> Heads<K> {
    /// `compare` decides between heads with the same key.
    pub(super) fn new(mut heads: Vec<Head<K>>, compare: impl Fn(&Head<K>, &Head<K>) -> Ordering) -> Self {
        heads.sort_by(|a, b| b.key.cmp(&a.key).then_with(|| compare(b, a)));
        let keys = heads.iter().map(|head| head.key).collect();
        Self { keys, lanes: heads.iter().map(|head| head.lane).collect() }
    }

    /// Takes in a head; `compare` decides between heads with the same key.
    #[inline]
    pub(super) fn insert(&mut self, head: Head<K>, compare: impl Fn(&Head<K>, &Head<K>) -> Ordering) {
        let mut place = self.above(head.key);
        // Heads with the same key are rare.
        while let Some(other) = self.get(place)
            && other.key == head.key
            && compare(&other, &head).is_gt()
        {
            place += 1;
        }
        self.keys.insert(place, head.key);
        self.lanes.insert(place, head.lane);
    }

    /// How many heads have keys above `key`.
    #[inline]
    fn above(&self, key: K) -> usize {
        /// Up to here comparing all of them is faster than the jumps of a bisection.
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

    /// The lowest head.
    #[inline]
    pub(super) fn last(&self) -> Option<Head<K>> {
        self.get(self.keys.len().checked_sub(1)?)
    }

    /// Takes out the lowest head.
    pub(super) fn pop(&mut self) -> Option<Head<K>> {
        Some(Head { key: self.keys.pop()?, lane: self.lanes.pop()? })
    }
}
