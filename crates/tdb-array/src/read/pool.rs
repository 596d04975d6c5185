//! Column memory that is used again.

use std::sync::Arc;

use tdb_types::Buffer;

use crate::Batch;

/// Lends buffers to batches and takes them back once nobody else holds them, so that a reader that drops each batch
/// before it asks for the next one costs no fresh memory, whose first touch is as slow as a read.
#[derive(Debug, Default)]
pub(crate) struct BufferPool {
    lent: Vec<Arc<Buffer>>,
    spare: Vec<Buffer>,
}

impl BufferPool {
    /// A buffer of `len` bytes, which hold anything.
    pub(crate) fn take(&mut self, len: usize) -> Buffer {
        self.collect();
        // The smallest that is large enough, else none: growing would copy what nobody wants.
        let fitting = self.spare.iter().enumerate().filter(|(_, buffer)| buffer.capacity() >= len);
        let best = fitting.min_by_key(|(_, buffer)| buffer.capacity()).map(|(index, _)| index);
        let mut buffer = best.map_or_else(Buffer::new, |index| self.spare.swap_remove(index));
        buffer.resize(len);
        buffer
    }

    /// Remembers the buffers of a batch that is about to be handed out.
    pub(crate) fn lend(&mut self, batch: &Batch) {
        for column in batch.columns() {
            let (values, offsets, validity) = column.clone().into_buffers();
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
            if let Ok(buffer) = Arc::try_unwrap(buffer) {
                back.push(buffer);
            }
        }
        self.spare = back;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_memory_comes_back() {
        let mut pool = BufferPool::default();
        let buffer = pool.take(1 << 20);
        let address = buffer.as_ptr();
        pool.lent.push(Arc::new(buffer));
        assert_eq!(pool.take(1 << 19).as_ptr(), address);
    }

    #[test]
    fn memory_in_use_does_not() {
        let mut pool = BufferPool::default();
        let held = Arc::new(pool.take(1 << 20));
        pool.lent.push(held.clone());
        assert_ne!(pool.take(1 << 20).as_ptr(), held.as_ptr());
    }
}
