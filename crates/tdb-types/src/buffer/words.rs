//! Zeroed memory in whole words.

use std::ops::{Deref, DerefMut};

/// Words that were zero when they were first in use.
pub(super) enum Words {
    Heap(Vec<u64>),
    /// Pages of the system's own.
    #[cfg(target_os = "linux")]
    Mapped(memmap2::MmapMut),
}

impl Words {
    /// `len` zeros.
    pub(super) fn zeroed(len: usize) -> Self {
        // They come from the system without our touching them.
        Self::Heap(vec![0; len])
    }

    /// At least `len` zeros, in large pages if there are any and it's worth one.
    #[cfg(target_os = "linux")]
    pub(super) fn in_large_pages(len: usize) -> Self {
        /// Bytes of a large page.
        const PAGE: usize = 2 << 20;
        let pages = len.saturating_mul(size_of::<u64>()).checked_next_multiple_of(PAGE);
        let is_worth_it = len >= PAGE / size_of::<u64>() / 2;
        match pages.filter(|_| is_worth_it).and_then(|bytes| memmap2::MmapMut::map_anon(bytes).ok()) {
            Some(memory) => {
                // Small pages serve as well.
                let _advised = memory.advise(memmap2::Advice::HugePage);
                Self::Mapped(memory)
            }
            None => Self::zeroed(len),
        }
    }

    /// `len` zeros: large pages are asked for on Linux only.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn in_large_pages(len: usize) -> Self {
        Self::zeroed(len)
    }

    /// How many words there can be without another allocation.
    pub(super) fn capacity(&self) -> usize {
        match self {
            Self::Heap(words) => words.capacity(),
            #[cfg(target_os = "linux")]
            Self::Mapped(_) => self.len(),
        }
    }

    /// At least `len` zeros in the same kind of memory.
    fn like(&self, len: usize) -> Self {
        match self {
            Self::Heap(_) => Self::zeroed(len),
            #[cfg(target_os = "linux")]
            Self::Mapped(_) => Self::in_large_pages(len),
        }
    }

    /// Appends zeros, until there are `len` words at least.
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
            // Pages begin where words do, and their number is one of whole words.
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
