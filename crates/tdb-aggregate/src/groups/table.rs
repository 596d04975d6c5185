//! Numbers for keys.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// A key as it is looked up.
pub(super) trait Key: Ord + Hash {
    type Owned: Borrow<Self> + Ord + Hash + Clone + std::fmt::Debug;

    fn to_key(&self) -> Self::Owned;

    /// Bytes of memory that it takes beyond its size.
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
        // Allocators have bytes of their own.
        self.len() + 16
    }
}

/// Keys, each with the number of its group, from the first that is taken to the last.
#[derive(Debug)]
pub(super) struct Table<K: Key + ?Sized> {
    groups: HashMap<K::Owned, u32>,
    /// The first key that is taken.
    from: Option<K::Owned>,
    /// The first key beyond those that are taken.
    until: Option<K::Owned>,
    /// Bytes that keys take beyond their size.
    memory: usize,
}

/// The group of a key that isn't taken.
pub(super) const NONE: u32 = u32::MAX;

impl<K: Key + ?Sized> Default for Table<K> {
    fn default() -> Self {
        Self { groups: HashMap::new(), from: None, until: None, memory: 0 }
    }
}

impl<K: Key + ?Sized> Table<K> {
    /// An empty one that takes the same keys.
    pub(super) fn part(&self) -> Self {
        Self { from: self.from.clone(), until: self.until.clone(), ..Self::default() }
    }

    /// One for the keys that weren't taken, if there may be any.
    pub(super) fn rest(&self) -> Option<Self> {
        let from = self.until.clone()?;
        Some(Self { from: Some(from), ..Self::default() })
    }

    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Bytes of memory that keys and numbers take.
    pub(super) fn memory(&self) -> usize {
        self.groups.capacity() * (size_of::<(K::Owned, u32)>() + 1) + self.memory
    }

    /// Appends the group of each key; [`NONE`] of one that isn't taken.
    pub(super) fn find<'k>(&mut self, keys: impl Iterator<Item = &'k K>, groups: &mut Vec<u32>)
    where
        K: 'k,
    {
        let mut last: Option<(&K, u32)> = None;
        for key in keys {
            // Cells often lie next to others of their group.
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

    /// Takes the keys of another one, and appends for each of its groups the one here. Whether some that are here aren't taken any
    /// more.
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

    /// Takes no keys of the greater half any more.
    pub(super) fn halve(&mut self) {
        let mut keys: Vec<&K::Owned> = self.groups.keys().collect();
        let middle = keys.len() / 2;
        if middle > 0 {
            let (_, key, _) = keys.select_nth_unstable(middle);
            self.until = Some((*key).clone());
        }
    }

    /// Lets go of keys that aren't taken any more. The groups that stay, whose numbers are now their places in this list; `None` if
    /// all stay.
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

    /// The keys in order, each with its group.
    pub(super) fn into_sorted(self) -> Vec<(K::Owned, u32)> {
        let mut keys: Vec<_> = self.groups.into_iter().collect();
        keys.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        keys
    }
}
