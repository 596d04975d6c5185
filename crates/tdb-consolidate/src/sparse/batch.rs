//! Batches of cells from all open tiles.
//!
//! If the cells of fragments interleave, sorting many cells at once is faster than a search for the
//! next tile after each cell.

use std::cmp::Ordering;
use std::sync::Arc;

use tdb_cells::Workers;
use tdb_cells::order::entries::Entries;
use tdb_cells::order::key::{Entry, Key};
use tdb_cells::order::sort::{CompareEqual, Sorter};
use tdb_cells::order::words::{Places, Words};

use super::heads::Head;
use super::tile::{Loaded, Rules};

/// Sorted cells of open tiles.
#[derive(Debug, Default)]
pub(super) struct Batch<K: Key> {
    sorter: Sorter<K::Entry>,
    entries: Entries<K::Entry>,
    /// Sorted cells as compact words instead of entries, if the range of keys is small enough.
    words: Words,
    /// For each head, the end of the cells taken from its tile.
    pub(super) ends: Vec<usize>,
}

/// Limits of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach<K> {
    /// Exclusive upper bound of the keys.
    pub(super) below: Option<K>,
    /// Maximum number of cells per tile.
    pub(super) most: usize,
}

impl<K: Key> Batch<K> {
    /// Takes and sorts the next cells of all heads: the cells within the reach that come before the
    /// cells of all tiles that are not open yet. `goes_on` returns `true` for a tile that another
    /// tile of its source follows. Returns the number of cells.
    pub(super) fn take(
        &mut self,
        (workers, rules): (&Workers, Rules<'_>),
        slots: &[Option<Arc<Loaded<K>>>],
        heads: &[Head<K>],
        reach: Reach<K>,
        goes_on: impl Fn(&Loaded<K>) -> bool,
    ) -> usize {
        self.entries.clear();
        self.words.clear();
        self.ends.clear();
        let mut below = reach.below;
        let mut low = K::HIGHEST;
        let mut lower = |key: &K| below = Some(below.map_or(*key, |below| below.min(*key)));
        for head in heads {
            let Some(loaded) = &slots[head.slot] else { continue };
            low = low.min(head.key);
            // The next tile may begin with an equal key.
            loaded.keys.last().filter(|_| goes_on(loaded)).into_iter().for_each(&mut lower);
            loaded.keys.get(head.cell.saturating_add(reach.most)).into_iter().for_each(&mut lower);
        }
        let (mut high, mut count) = (low, 0);
        for head in heads {
            let keys = slots[head.slot].as_ref().map_or(&[][..], |loaded| &loaded.keys[head.cell..]);
            let keys = &keys[..keys.len().min(reach.most)];
            let taken = below.map_or(keys.len(), |below| keys.partition_point(|key| *key < below));
            if let Some(last) = taken.checked_sub(1) {
                high = high.max(keys[last]);
            }
            self.ends.push(head.cell + taken);
            count += taken;
        }
        let compare_equal = |a: (usize, usize), b: (usize, usize)| match (&slots[a.0], &slots[b.0]) {
            (Some(x), Some(y)) => x.compare(rules, a.1, (y, b.1)),
            _ => Ordering::Equal,
        };
        let cells = heads.iter().zip(&self.ends).filter_map(|(head, end)| {
            let keys = &slots[head.slot].as_ref()?.keys[head.cell..*end];
            Some((head.slot, head.cell, keys))
        });
        let most_cells = self.ends.iter().copied().max().unwrap_or(0);
        if let Some(places) = Places::new(high.bits_above(low), slots.len(), most_cells) {
            self.words.reserve(count);
            cells.for_each(|(slot, first, keys)| {
                self.words.extend(places, slot, first, keys.iter().map(|key| key.bucket(low, 0) as u64));
            });
            self.words.sort(places, compare_equal);
            return count;
        }
        self.entries.reserve(count);
        cells.for_each(|(slot, first, keys)| {
            #[allow(clippy::cast_possible_truncation)] // slots are files, and tiles have fewer cells than 2^32
            let entry = |(key, cell): (&K, usize)| K::Entry::new(*key, slot as u32, cell as u32);
            self.entries.extend(keys.iter().zip(first..).map(entry));
        });
        let compare_equal = |a: &K::Entry, b: &K::Entry| {
            let [a, b] = [a.place(), b.place()].map(|(slot, cell)| (slot as usize, cell as usize));
            compare_equal(a, b)
        };
        let compare_equal: &CompareEqual<'_, K::Entry> = &compare_equal;
        self.sorter.sort(workers, &mut self.entries, (low, high), Some(compare_equal));
        count
    }

    /// Calls `take` for each cell in order. The arguments are the slot of the tile, the index of
    /// the cell, and whether the key differs from the key of the previous cell (`false` for the
    /// first cell).
    pub(super) fn for_each(&self, mut take: impl FnMut(usize, usize, bool)) {
        self.words.for_each(&mut take);
        let mut before = None;
        for entry in self.entries.iter() {
            let ((slot, cell), key) = (entry.place(), entry.key());
            take(slot as usize, cell as usize, before.is_some_and(|before| before != key));
            before = Some(key);
        }
    }
}
