//! Column memory that is used again.

use tdb_types::{Buffer, SharedBuffer};

use crate::{Batch, Column};

/// Lends buffers to batches and takes them back once nobody else holds them, so that a reader that drops each batch
/// before it asks for the next one costs no fresh memory, whose first touch is as slow as a read.
#[derive(Debug)]
pub(crate) struct BufferPool {
    /// Buffers of so many bytes lie in large pages.
    large_from: usize,
    lent: Vec<SharedBuffer>,
    spare: Vec<Buffer>,
}

impl BufferPool {
    /// For batches in which each thread fills places of its own.
    pub(crate) fn of_pieces() -> Self {
        Self::new(1 << 20)
    }

    /// For batches in which all threads write everywhere: they would wait for each other's first touches of large pages.
    /// Results that somebody wants as one are worth that.
    pub(crate) fn of_rows() -> Self {
        Self::new(32 << 20)
    }

    fn new(large_from: usize) -> Self {
        Self { large_from, lent: Vec::new(), spare: Vec::new() }
    }

    /// A buffer of `len` bytes, which hold anything.
    pub(crate) fn take(&mut self, len: usize) -> Buffer {
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
    pub(crate) fn lend(&mut self, batch: &Batch) {
        self.lend_columns(batch.columns().iter().cloned());
    }

    /// Remembers the buffers of columns.
    pub(crate) fn lend_columns(&mut self, columns: impl IntoIterator<Item = Column>) {
        for column in columns {
            let (values, offsets, validity) = column.into_buffers();
            self.lent.extend([Some(values), offsets, validity].into_iter().flatten());
        }
    }

    fn collect(&mut self) {
        if self.lent.is_empty() {
            return;
        }
        // What is no longer needed since the last batch is let go, so that the pool doesn't grow.
        let mut back = Vec::new();
        for buffer in self.lent.drain(..) {
            back.extend(buffer.into_whole().ok());
        }
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
        pool.lent.push(buffer.into());
        assert_eq!(pool.take(1 << 19).as_ptr(), address);
    }

    #[test]
    fn memory_in_use_does_not() {
        let mut pool = BufferPool::of_pieces();
        let held = SharedBuffer::from(pool.take(1 << 20));
        pool.lent.push(held.clone());
        assert_ne!(pool.take(1 << 20).as_ptr(), held.as_ptr());
    }
}
