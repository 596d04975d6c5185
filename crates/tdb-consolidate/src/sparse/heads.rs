//! The next cell of each open tile.

use tdb_cells::order::key::Key;

/// The next cell of an open tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<K> {
    pub(super) key: K,
    pub(super) slot: usize,
    pub(super) cell: usize,
}

/// The heads of all open tiles, as a binary heap. The root is the head that comes first.
#[derive(Debug, Default)]
pub(super) struct Heads<K>(pub(super) Vec<Head<K>>);

impl<K: Key> Heads<K> {
    /// Adds a head. `is_before` compares two heads.
    pub(super) fn push(&mut self, head: Head<K>, is_before: impl Fn(Head<K>, Head<K>) -> bool) {
        let mut at = self.0.len();
        self.0.push(head);
        while at > 0 && is_before(self.0[at], self.0[(at - 1) / 2]) {
            self.0.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    /// Removes and returns the first head.
    pub(super) fn pop(&mut self, is_before: impl Fn(Head<K>, Head<K>) -> bool) -> Option<Head<K>> {
        let last = self.0.len().checked_sub(1)?;
        let first = self.0.swap_remove(0);
        let mut at = 0;
        loop {
            let least = (2 * at + 1..(2 * at + 3).min(last))
                .fold(at, |least, child| if is_before(self.0[child], self.0[least]) { child } else { least });
            if least == at {
                return Some(first);
            }
            self.0.swap(at, least);
            at = least;
        }
    }
}
