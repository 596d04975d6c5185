//! Zeroed memory in 64-bit words.

use std::ops::{Deref, DerefMut};

/// Words of memory, zero when allocated.
pub(super) enum Words {
    Heap(Vec<u64>),
    /// Anonymous pages mapped from the operating system.
    #[cfg(target_os = "linux")]
    Mapped(memmap2::MmapMut),
}

impl Words {
    /// Allocates `len` zero words.
    pub(super) fn zeroed(len: usize) -> Self {
        // `vec!` requests zeroed memory, which the allocator maps lazily for large sizes.
        Self::Heap(vec![0; len])
    }

    /// Allocates at least `len` zero words. Uses huge pages if they are available and `len` words
    /// fill at least half a page.
    #[cfg(target_os = "linux")]
    pub(super) fn in_large_pages(len: usize) -> Self {
        /// Size of a huge page, in bytes.
        const PAGE: usize = 2 << 20;
        let pages = len.saturating_mul(size_of::<u64>()).checked_next_multiple_of(PAGE);
        let is_worth_it = len >= PAGE / size_of::<u64>() / 2;
        match pages.filter(|_| is_worth_it).and_then(|bytes| memmap2::MmapMut::map_anon(bytes).ok()) {
            Some(memory) => {
                // A refusal is harmless: the mapping then uses small pages.
                let _advised = memory.advise(memmap2::Advice::HugePage);
                Self::Mapped(memory)
            }
            None => Self::zeroed(len),
        }
    }

    /// Allocates `len` zero words on the heap, because huge pages are used on Linux only.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn in_large_pages(len: usize) -> Self {
        Self::zeroed(len)
    }

    /// Returns the number of words that fit without another allocation.
    pub(super) fn capacity(&self) -> usize {
        match self {
            Self::Heap(words) => words.capacity(),
            #[cfg(target_os = "linux")]
            Self::Mapped(_) => self.len(),
        }
    }

    /// Allocates at least `len` zero words, in the same kind of memory if possible.
    fn like(&self, len: usize) -> Self {
        match self {
            Self::Heap(_) => Self::zeroed(len),
            #[cfg(target_os = "linux")]
            Self::Mapped(_) => Self::in_large_pages(len),
        }
    }

    /// Extends the memory with zeros to at least `len` words.
    pub(super) fn grow(&mut self, len: usize) {
        match self {
            Self::Heap(words) if len <= words.capacity() => words.resize(len.max(words.len()), 0),
            _ if len > self.len() => {
                let mut grown = self.like(len);
                grown[..self.len()].copy_from_slice(self);
                *self = grown;
            }
            _ => {}
        }
    }
}

impl Default for Words {
    fn default() -> Self {
        Self::Heap(Vec::new())
    }
}

impl Clone for Words {
    fn clone(&self) -> Self {
        let mut words = self.like(self.len());
        words[..self.len()].copy_from_slice(self);
        words
    }
}

impl Deref for Words {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        match self {
            Self::Heap(words) => words,
            // Page addresses and sizes are multiples of the word size.
            #[cfg(target_os = "linux")]
            Self::Mapped(memory) => bytemuck::cast_slice(memory),
        }
    }
}

impl DerefMut for Words {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Heap(words) => words,
            #[cfg(target_os = "linux")]
            Self::Mapped(memory) => bytemuck::cast_slice_mut(memory),
        }
    }
}
