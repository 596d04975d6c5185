//! Memory that is used again.

use std::sync::{Mutex, PoisonError};

use tdb_types::Buffer;

use crate::buffers::CellBuffers;

/// Memory of one kind that nobody wants for now, for all threads: fresh memory is slow to touch.
#[derive(Debug)]
pub struct Pool<T> {
    kept: Mutex<Kept<T>>,
    /// Bytes that are kept at most: where more is given than taken, the rest is let go.
    most: usize,
}

#[derive(Debug)]
struct Kept<T> {
    spares: Vec<T>,
    bytes: usize,
}

/// Bytes of each kind that this process keeps when an array is closed, for the next one.
const KEPT: usize = 4 << 20;

/// What arrays that were closed leave to those that are opened next. A program that opens an array for each small write would touch fresh
/// memory for each: of a tile of 2 MiB, filling that takes longer than writing the file. As freed memory does, it may hold cells until it is used
/// again, those of encrypted arrays too.
pub static LEFT_CELLS: Pool<CellBuffers> = Pool::of(KEPT);
/// The same for parts of tiles as they are stored.
pub static LEFT_PARTS: Pool<[Vec<u8>; 3]> = Pool::of(KEPT);

/// Memory that can be used again.
pub trait Spare: Default {
    /// How many bytes it has.
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
    /// Keeps so many bytes at most.
    pub const fn of(most: usize) -> Self {
        Self { kept: Mutex::new(Kept { spares: Vec::new(), bytes: 0 }), most }
    }
}

impl<T: Spare> Pool<T> {
    /// What was given last, as it was, or something new.
    pub fn take(&self) -> T {
        self.take_if_any().unwrap_or_default()
    }

    /// What was given last, as it was; none if there is nothing.
    pub fn take_if_any(&self) -> Option<T> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let spare = kept.spares.pop()?;
        kept.bytes -= spare.memory();
        Some(spare)
    }

    /// Gives all that is there to another pool.
    pub fn leave_to(&mut self, other: &Self) {
        let kept = self.kept.get_mut().unwrap_or_else(PoisonError::into_inner);
        kept.bytes = 0;
        kept.spares.drain(..).for_each(|spare| other.give(spare));
    }

    /// Keeps what nobody wants for now, if there is room.
    pub fn give(&self, spare: T) {
        let bytes = spare.memory();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // One without memory would only hide those that have some.
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
    fn no_more_is_kept_than_is_to_be() {
        let pool = Pool::of(1000);
        (0..5).for_each(|_| pool.give(Vec::<u64>::with_capacity(50)));
        let capacities: Vec<usize> = (0..4).map(|_| pool.take().capacity()).collect();
        assert_eq!(capacities, [50, 50, 0, 0]);
        pool.give(Vec::with_capacity(125));
        assert_eq!(pool.take().capacity(), 125);
    }
}
