//! Pools of reusable memory.

use std::sync::{Mutex, PoisonError};

use tdb_types::Buffer;

use crate::buffers::CellBuffers;

/// A pool of unused memory, shared by all threads. Reuse avoids the slow first access to fresh
/// memory.
#[derive(Debug)]
pub struct Pool<T> {
    kept: Mutex<Kept<T>>,
    /// The maximum number of bytes kept. Surplus memory is freed.
    most: usize,
}

#[derive(Debug)]
struct Kept<T> {
    spares: Vec<T>,
    bytes: usize,
}

/// The maximum size in bytes of each pool that keeps the memory of closed arrays.
const KEPT: usize = 4 << 20;

/// Memory of closed arrays for arrays opened later. A program that opens an array for each small
/// write would otherwise touch fresh memory each time. For a tile of 2 MiB, this takes longer than
/// writing the file. Like freed memory, this memory may contain cells until reuse, even of
/// encrypted arrays.
pub static SPARE_CELLS: Pool<CellBuffers> = Pool::of(KEPT);
/// Memory of closed arrays for stored parts of tiles.
pub static SPARE_PARTS: Pool<[Vec<u8>; 3]> = Pool::of(KEPT);

/// Reusable memory.
pub trait Spare: Default {
    /// Returns the size in bytes.
    fn memory(&self) -> usize;
}

impl Spare for Buffer {
    fn memory(&self) -> usize {
        self.capacity()
    }
}

impl Spare for CellBuffers {
    fn memory(&self) -> usize {
        self.memory()
    }
}

impl<T> Spare for Vec<T> {
    fn memory(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

impl<T: Spare, const N: usize> Spare for [T; N]
where
    Self: Default,
{
    fn memory(&self) -> usize {
        self.iter().map(T::memory).sum()
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self::of(usize::MAX)
    }
}

impl<T> Pool<T> {
    /// Creates a pool for up to `most` bytes.
    pub const fn of(most: usize) -> Self {
        Self { kept: Mutex::new(Kept { spares: Vec::new(), bytes: 0 }), most }
    }
}

impl<T: Spare> Pool<T> {
    /// Returns the memory given last, with its contents. Returns new memory if the pool is empty.
    pub fn take(&self) -> T {
        self.take_if_any().unwrap_or_default()
    }

    /// Returns the memory given last, with its contents. Returns `None` if the pool is empty.
    pub fn take_if_any(&self) -> Option<T> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let spare = kept.spares.pop()?;
        kept.bytes -= spare.memory();
        Some(spare)
    }

    /// Moves all memory to another pool. Frees memory for which the other pool has no room.
    pub fn leave_to(&mut self, other: &Self) {
        let kept = self.kept.get_mut().unwrap_or_else(PoisonError::into_inner);
        kept.bytes = 0;
        kept.spares.drain(..).for_each(|spare| other.give(spare));
    }

    /// Keeps unused memory if there is room, or else frees it.
    pub fn give(&self, spare: T) {
        let bytes = spare.memory();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // An empty allocation would only hide useful memory, because the last memory is taken
        // first.
        if bytes > 0 && bytes <= self.most.saturating_sub(kept.bytes) {
            kept.bytes += bytes;
            kept.spares.push(spare);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_at_most_the_limit() {
        let pool = Pool::of(1000);
        (0..5).for_each(|_| pool.give(Vec::<u64>::with_capacity(50)));
        let capacities: Vec<usize> = (0..4).map(|_| pool.take().capacity()).collect();
        assert_eq!(capacities, [50, 50, 0, 0]);
        pool.give(Vec::with_capacity(125));
        assert_eq!(pool.take().capacity(), 125);
    }
}
