//! Column memory that is used again.

use std::collections::VecDeque;

use tdb_cells::{Batch, Column};
use tdb_types::{Buffer, SharedBuffer};

/// So many batches that were handed out may come back: a reader may still hold one when it asks for the next, and one or two may be on
/// their way to it.
const LENT: usize = 4;

/// Lends buffers to batches and takes them back once nobody else holds them, so that a reader that drops each batch
/// before long costs no fresh memory, whose first touch is as slow as a read.
#[derive(Debug)]
pub struct BufferPool {
    /// Buffers of so many bytes lie in large pages.
    large_from: usize,
    /// Those of each batch.
    lent: VecDeque<Vec<SharedBuffer>>,
    /// Whether nobody has looked yet what came back since the last batch.
    is_due: bool,
    spare: Vec<Buffer>,
}

impl BufferPool {
    /// For batches in which each thread fills places of its own.
    pub fn of_pieces() -> Self {
        Self::new(1 << 20)
    }

    /// For batches in which all threads write everywhere: they would wait for each other's first touches of large pages.
    /// Results that somebody wants as one are worth that.
    pub fn of_rows() -> Self {
        Self::new(32 << 20)
    }

    fn new(large_from: usize) -> Self {
        Self { large_from, lent: VecDeque::new(), is_due: false, spare: Vec::new() }
    }

    /// A buffer of `len` bytes, which hold anything.
    pub fn take(&mut self, len: usize) -> Buffer {
        self.collect();
        // The smallest that is large enough, else none: growing would copy what nobody wants.
        let fitting = self.spare.iter().enumerate().filter(|(_, buffer)| buffer.capacity() >= len);
        let best = fitting.min_by_key(|(_, buffer)| buffer.capacity()).map(|(index, _)| index);
        let Some(best) = best else {
            return if len < self.large_from { Buffer::zeroed(len) } else { Buffer::in_large_pages(len) };
        };
        let mut buffer = self.spare.swap_remove(best);
        buffer.resize(len);
        buffer
    }

    /// Remembers the buffers of a batch that is about to be handed out.
    pub fn lend(&mut self, batch: &Batch) {
        self.lend_columns(batch.columns().iter().cloned());
    }

    /// Remembers the buffers of columns.
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
        // What is no longer needed since the last batch is let go, so that the pool doesn't grow.
        let mut back = Vec::new();
        for buffers in &mut self.lent {
            let held = std::mem::take(buffers).into_iter().filter_map(|buffer| match buffer.into_whole() {
                Ok(buffer) => {
                    back.push(buffer);
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

    #[test]
    fn dropped_memory_comes_back() {
        let mut pool = BufferPool::of_pieces();
        let buffer = pool.take(1 << 20);
        let address = buffer.as_ptr();
        pool.lend_buffers(vec![buffer.into()]);
        assert_eq!(pool.take(1 << 19).as_ptr(), address);
    }

    #[test]
    fn memory_in_use_does_not() {
        let mut pool = BufferPool::of_pieces();
        let held = SharedBuffer::from(pool.take(1 << 20));
        pool.lend_buffers(vec![held.clone()]);
        assert_ne!(pool.take(1 << 20).as_ptr(), held.as_ptr());
    }

    #[test]
    fn memory_that_is_held_for_a_while_comes_back_too() {
        let mut pool = BufferPool::of_pieces();
        let mut held = VecDeque::new();
        let mut addresses = std::collections::BTreeSet::new();
        // Each batch is dropped when the second one after it is asked for.
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
        assert!(pool.lent.len() <= 3 && pool.spare.len() <= 2, "{pool:?}");
    }

    #[test]
    fn of_batches_that_are_kept_no_more_than_a_few_are_remembered() {
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
        assert_eq!(pool.spare.len(), LENT - 1);
    }
}
