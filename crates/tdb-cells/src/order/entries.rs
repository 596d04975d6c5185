//! Entries of cells for sorting.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use tdb_types::Buffer;

use super::key::Entry;

/// A list of entries in large memory pages, because a list may have millions of entries.
#[derive(Debug, Default)]
pub struct Entries<E> {
    memory: Buffer,
    len: usize,
    entry: PhantomData<E>,
}

impl<E: Entry> Entries<E> {
    /// Reserves room for `len` entries in total. Keeps existing entries.
    pub fn reserve(&mut self, len: usize) {
        let bytes = len * size_of::<E>();
        if bytes > self.memory.capacity() {
            let mut memory = Buffer::in_large_pages(bytes);
            let used = self.len * size_of::<E>();
            memory[..used].copy_from_slice(&self.memory[..used]);
            self.memory = memory;
        }
        self.memory.resize(self.memory.capacity() / size_of::<E>() * size_of::<E>());
    }

    /// Appends entries until the reserved room is full.
    #[inline]
    pub fn extend(&mut self, entries: impl Iterator<Item = E>) {
        let before = self.len;
        let mut count = 0;
        for (to, entry) in self.all()[before..].iter_mut().zip(entries) {
            *to = entry;
            count += 1;
        }
        self.len += count;
    }

    /// Sets the number of entries. New entries have unspecified contents.
    pub fn resize(&mut self, len: usize) {
        self.reserve(len);
        self.len = len;
    }

    /// Removes the entries rejected by `keep`.
    pub fn retain(&mut self, keep: impl Fn(&E) -> bool) {
        let entries = &mut **self;
        let mut kept = 0;
        for index in 0..entries.len() {
            entries[kept] = entries[index];
            kept += usize::from(keep(&entries[index]));
        }
        self.len = kept;
    }

    /// Removes all entries and keeps the memory.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    fn all(&mut self) -> &mut [E] {
        self.memory.values_mut().unwrap_or_default()
    }
}

impl<E: Entry> Deref for Entries<E> {
    type Target = [E];

    #[inline]
    fn deref(&self) -> &[E] {
        &self.memory.values().unwrap_or_default()[..self.len]
    }
}

impl<E: Entry> DerefMut for Entries<E> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [E] {
        let len = self.len;
        &mut self.all()[..len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_return_key_slot_and_cell() {
        let small = <[u64; 2]>::new(7, 3, u32::MAX);
        assert_eq!((small.key(), small.place()), (7, (3, u32::MAX)));
        let wide = <[u64; 3]>::new(u128::MAX - 1, u32::MAX, 5);
        assert_eq!((wide.key(), wide.place()), (u128::MAX - 1, (u32::MAX, 5)));
    }

    #[test]
    fn growth_keeps_entries() {
        let mut entries = Entries::<[u64; 3]>::default();
        assert!(entries.is_empty());
        entries.reserve(3);
        entries.extend((0..3).map(|cell| Entry::new(9, 1, cell)));
        entries.reserve(200_000);
        entries.extend((3..200_000).map(|cell| Entry::new(9, 1, cell)));
        assert!(entries.iter().zip(0..).all(|(entry, cell)| entry.place() == (1, cell)));
        entries.retain(|entry| entry.place().1 % 2 == 1);
        assert_eq!((entries.len(), entries[99_999].place()), (100_000, (1, 199_999)));
        entries.resize(4);
        assert_eq!(entries.iter().map(|entry| entry.place().1).collect::<Vec<_>>(), [1, 3, 5, 7]);
        entries.clear();
        assert!(entries.is_empty());
    }
}
