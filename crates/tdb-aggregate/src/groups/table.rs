//! Mapping of keys to group numbers.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// A borrowed key.
pub(super) trait Key: Ord + Hash {
    type Owned: Borrow<Self> + Ord + Hash + Clone + std::fmt::Debug;

    fn to_key(&self) -> Self::Owned;

    /// Returns the heap memory of an owned key in bytes.
    fn memory(&self) -> usize;
}

impl Key for u128 {
    type Owned = Self;

    fn to_key(&self) -> Self {
        *self
    }

    fn memory(&self) -> usize {
        0
    }
}

impl Key for [u8] {
    type Owned = Box<Self>;

    fn to_key(&self) -> Box<Self> {
        self.into()
    }

    fn memory(&self) -> usize {
        // Includes the overhead of the allocator.
        self.len() + 16
    }
}

/// A map from keys to group numbers, for keys in a range.
#[derive(Debug)]
pub(super) struct Table<K: Key + ?Sized> {
    groups: HashMap<K::Owned, u32>,
    /// The lower end of the key range (inclusive).
    from: Option<K::Owned>,
    /// The upper end of the key range (exclusive).
    until: Option<K::Owned>,
    /// The heap memory of the keys in bytes.
    memory: usize,
}

/// The group number of a key outside of the range.
pub(super) const NONE: u32 = u32::MAX;

impl<K: Key + ?Sized> Default for Table<K> {
    fn default() -> Self {
        Self { groups: HashMap::new(), from: None, until: None, memory: 0 }
    }
}

impl<K: Key + ?Sized> Table<K> {
    /// Returns an empty table with the same key range.
    pub(super) fn part(&self) -> Self {
        Self { from: self.from.clone(), until: self.until.clone(), ..Self::default() }
    }

    /// Returns an empty table for the keys beyond the range, or `None` if the range has no upper
    /// end.
    pub(super) fn rest(&self) -> Option<Self> {
        let from = self.until.clone()?;
        Some(Self { from: Some(from), ..Self::default() })
    }

    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns the memory use of the keys and group numbers in bytes.
    pub(super) fn memory(&self) -> usize {
        self.groups.capacity() * (size_of::<(K::Owned, u32)>() + 1) + self.memory
    }

    /// Appends the group number of each key, or [`NONE`] for a key outside of the range.
    pub(super) fn find<'k>(&mut self, keys: impl Iterator<Item = &'k K>, groups: &mut Vec<u32>)
    where
        K: 'k,
    {
        let mut last: Option<(&K, u32)> = None;
        for key in keys {
            // Neighboring cells often have the same group.
            let group = match last {
                Some((known, group)) if known == key => group,
                _ => self.group(key),
            };
            last = Some((key, group));
            groups.push(group);
        }
    }

    fn takes(&self, key: &K) -> bool {
        self.from.as_ref().is_none_or(|from| key >= from.borrow())
            && self.until.as_ref().is_none_or(|until| key < until.borrow())
    }

    fn group(&mut self, key: &K) -> u32 {
        if let Some(group) = self.groups.get(key) {
            return *group;
        }
        if !self.takes(key) {
            return NONE;
        }
        let group = u32::try_from(self.groups.len()).unwrap_or(NONE);
        self.memory += key.memory();
        self.groups.insert(key.to_key(), group);
        group
    }

    /// Adds the keys of another table. Fills `groups` with the group number in this table of each
    /// group of `other`, or [`NONE`] for a key outside of the range.
    ///
    /// Returns `true` if the upper end of the key range was lowered.
    pub(super) fn merge(&mut self, other: Self, groups: &mut Vec<u32>) -> bool {
        let mut is_lowered = false;
        if let Some(until) = other.until
            && self.until.as_ref().is_none_or(|own| until < *own)
        {
            self.until = Some(until);
            is_lowered = true;
        }
        groups.resize(other.groups.len(), NONE);
        for (key, group) in &other.groups {
            if let Some(place) = groups.get_mut(*group as usize) {
                *place = self.group(key.borrow());
            }
        }
        is_lowered
    }

    /// Lowers the upper end of the key range to the median key.
    pub(super) fn halve(&mut self) {
        let mut keys: Vec<&K::Owned> = self.groups.keys().collect();
        let middle = keys.len() / 2;
        if middle > 0 {
            let (_, key, _) = keys.select_nth_unstable(middle);
            self.until = Some((*key).clone());
        }
    }

    /// Removes keys beyond the upper end of the range and renumbers the remaining groups.
    ///
    /// Returns the old numbers of the remaining groups, in the order of their new numbers, or
    /// `None` if no key was removed.
    pub(super) fn drop_beyond(&mut self) -> Option<Vec<u32>> {
        let until = self.until.as_ref()?;
        if self.groups.keys().all(|key| key < until) {
            return None;
        }
        let mut kept = Vec::new();
        let mut memory = 0;
        self.groups.retain(|key, group| {
            let stays = key < until;
            if stays {
                memory += <K::Owned as Borrow<K>>::borrow(key).memory();
                kept.push(*group);
                *group = u32::try_from(kept.len() - 1).unwrap_or(NONE);
            }
            stays
        });
        self.memory = memory;
        self.groups.shrink_to_fit();
        Some(kept)
    }

    /// Returns the keys in order, each with its group number.
    pub(super) fn into_sorted(self) -> Vec<(K::Owned, u32)> {
        let mut keys: Vec<_> = self.groups.into_iter().collect();
        keys.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        keys
    }
}
