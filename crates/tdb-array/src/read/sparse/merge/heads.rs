//! Where lanes stand that have cells left.

use std::cmp::Ordering;

use crate::order::key::Key;

/// The lowest place of cells that a lane has left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<K> {
    /// The key of the next cell, or one not above it while its tile isn't at hand.
    pub(super) key: K,
    pub(super) at_hand: bool,
    pub(super) lane: usize,
}

/// The heads of lanes, the lowest last.
///
/// Keys lie apart from the rest so that many are compared at once.
#[derive(Debug)]
pub(super) struct Heads<K> {
    keys: Vec<K>,
    rest: Vec<(bool, usize)>,
}

impl<K: Key> Heads<K> {
    /// `compare` decides between heads with the same key.
    pub(super) fn new(mut heads: Vec<Head<K>>, compare: impl Fn(&Head<K>, &Head<K>) -> Ordering) -> Self {
        heads.sort_by(|a, b| b.key.cmp(&a.key).then_with(|| compare(b, a)));
        let keys = heads.iter().map(|head| head.key).collect();
        Self { keys, rest: heads.iter().map(|head| (head.at_hand, head.lane)).collect() }
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
        self.rest.insert(place, (head.at_hand, head.lane));
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
        let (key, (at_hand, lane)) = (*self.keys.get(place)?, *self.rest.get(place)?);
        Some(Head { key, at_hand, lane })
    }

    /// The lowest head.
    #[inline]
    pub(super) fn last(&self) -> Option<Head<K>> {
        self.get(self.keys.len().checked_sub(1)?)
    }

    /// Takes out the lowest head.
    pub(super) fn pop(&mut self) -> Option<Head<K>> {
        let (key, (at_hand, lane)) = (self.keys.pop()?, self.rest.pop()?);
        Some(Head { key, at_hand, lane })
    }
}
