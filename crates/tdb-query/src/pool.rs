//! A pool of column memory.

use std::collections::{BTreeMap, VecDeque};

use tdb_cells::{Batch, Column};
use tdb_types::{Buffer, SharedBuffer};

/// The number of batches tracked for return. A reader may hold a batch while it requests the next
/// batch, with one or two more batches in transit.
const LENT: usize = 4;

/// A pool that lends buffers to batches. Buffers return to the pool once the reader drops the
/// batch. A reader that drops batches early needs no fresh memory. The first access to fresh memory
/// is as slow as a read.
#[derive(Debug)]
pub struct BufferPool {
    /// Buffers of at least this size use large memory pages.
    large_from: usize,
    /// The buffers of each batch.
    lent: VecDeque<Vec<SharedBuffer>>,
    /// `true` if returned buffers were not collected since the last batch.
    is_due: bool,
    /// Returned buffers by capacity, because many columns return many buffers. No list is empty.
    spare: BTreeMap<usize, Vec<Buffer>>,
}

impl BufferPool {
    /// Creates a pool for batches with separate regions for each thread.
    pub fn of_pieces() -> Self {
        Self::new(1 << 20)
    }

    /// Creates a pool for batches in which every thread writes cells anywhere. The threads would
    /// wait for each other at the first access of large pages. Only large results are worth the
    /// wait.
    pub fn of_rows() -> Self {
        Self::new(32 << 20)
    }

    fn new(large_from: usize) -> Self {
        Self { large_from, lent: VecDeque::new(), is_due: false, spare: BTreeMap::new() }
    }

    /// Returns a buffer of `len` bytes with unspecified contents.
    pub fn take(&mut self, len: usize) -> Buffer {
        self.collect();
        // The smallest sufficient buffer, or a new buffer. Growing would copy unneeded contents.
        let Some((&capacity, buffers)) = self.spare.range_mut(len..).next() else {
            return if len < self.large_from { Buffer::zeroed(len) } else { Buffer::in_large_pages(len) };
        };
        let buffer = buffers.pop();
        if buffers.is_empty() {
            self.spare.remove(&capacity);
        }
        let mut buffer = buffer.unwrap_or_default();
        buffer.resize(len);
        buffer
    }

    /// Tracks the buffers of a batch before the batch is returned.
    pub fn lend(&mut self, batch: &Batch) {
        self.lend_columns(batch.columns().iter().cloned());
    }

    /// Tracks the buffers of columns.
    pub fn lend_columns(&mut self, columns: impl IntoIterator<Item = Column>) {
        let buffers = columns.into_iter().flat_map(|column| {
            let (values, offsets, validity) = column.into_buffers();
            [Some(values), offsets, validity].into_iter().flatten()
        });
        self.lend_buffers(buffers.collect());
    }

    fn lend_buffers(&mut self, buffers: Vec<SharedBuffer>) {
        self.lent.push_back(buffers);
        if self.lent.len() > LENT {
            self.lent.pop_front();
        }
        self.is_due = true;
    }

    fn collect(&mut self) {
        if !std::mem::take(&mut self.is_due) {
            return;
        }
        // Buffers unused since the last batch are freed, to bound the size of the pool.
        let mut back: BTreeMap<usize, Vec<Buffer>> = BTreeMap::new();
        for buffers in &mut self.lent {
            let held = std::mem::take(buffers).into_iter().filter_map(|buffer| match buffer.into_whole() {
                Ok(buffer) => {
                    back.entry(buffer.capacity()).or_default().push(buffer);
                    None
                }
                Err(held) => Some(held),
            });
            *buffers = held.collect();
        }
        self.lent.retain(|buffers| !buffers.is_empty());
        self.spare = back;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spare(pool: &BufferPool) -> usize {
        pool.spare.values().map(Vec::len).sum()
    }

    #[test]
    fn dropped_memory_is_reused() {
        let mut pool = BufferPool::of_pieces();
        let buffer = pool.take(1 << 20);
        let address = buffer.as_ptr();
        pool.lend_buffers(vec![buffer.into()]);
        assert_eq!(pool.take(1 << 19).as_ptr(), address);
    }

    #[test]
    fn memory_in_use_is_not_reused() {
        let mut pool = BufferPool::of_pieces();
        let held = SharedBuffer::from(pool.take(1 << 20));
        pool.lend_buffers(vec![held.clone()]);
        assert_ne!(pool.take(1 << 20).as_ptr(), held.as_ptr());
    }

    #[test]
    fn memory_dropped_later_is_reused() {
        let mut pool = BufferPool::of_pieces();
        let mut held = VecDeque::new();
        let mut addresses = std::collections::BTreeSet::new();
        // Each batch is dropped at the request of the second batch after it.
        for _ in 0..20 {
            let batch = [1 << 16, 1 << 12].map(|len| SharedBuffer::from(pool.take(len)));
            addresses.extend(batch.iter().map(|buffer| buffer.as_ptr()));
            pool.lend_buffers(batch.to_vec());
            held.push_back(batch);
            if held.len() > 2 {
                held.pop_front();
            }
        }
        assert_eq!(addresses.len(), 6);
        assert!(pool.lent.len() <= 3 && spare(&pool) <= 2, "{pool:?}");
    }

    #[test]
    fn only_the_last_batches_are_tracked() {
        let mut pool = BufferPool::of_pieces();
        let kept: Vec<SharedBuffer> = (0..20)
            .map(|_| {
                let buffer = SharedBuffer::from(pool.take(64));
                pool.lend_buffers(vec![buffer.clone()]);
                buffer
            })
            .collect();
        assert_eq!(pool.lent.len(), LENT);
        drop(kept);
        pool.take(64);
        assert_eq!(spare(&pool), LENT - 1);
    }
}
