//! Aligned column memory.

mod shared;
mod words;

use std::fmt;
use std::ops::{Deref, DerefMut};

pub use shared::SharedBuffer;
use words::Words;

/// A growable byte buffer, aligned to 8 bytes so that it can be viewed as values of any datatype.
///
/// Values are contiguous, as in Arrow. Growing keeps the existing bytes. [`resize`](Self::resize)
/// and [`append`](Self::append) define the content of new bytes.
#[derive(Clone, Default)]
pub struct Buffer {
    words: Words,
    len: usize,
}

impl Buffer {
    /// Creates an empty buffer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a buffer of `len` zero bytes.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self { words: Words::zeroed(len.div_ceil(8)), len }
    }

    /// Creates a buffer of `len` zero bytes, in huge pages on Linux if `len` is at least 1 MiB.
    ///
    /// The first access to fresh memory takes a large part of the time to build a large result.
    /// Huge pages cut this time to a third (measured: 0.15 instead of 0.43 ms per MiB). The
    /// allocation is rounded up to a multiple of 2 MiB. Uses the heap if `len` is smaller, if the
    /// mapping fails, and on other systems.
    #[must_use]
    pub fn in_large_pages(len: usize) -> Self {
        Self { words: Words::in_large_pages(len.div_ceil(8)), len }
    }

    /// Sets the length. New bytes are zero if the buffer never used their memory before. Otherwise
    /// they keep their old content.
    pub fn resize(&mut self, len: usize) {
        let words = len.div_ceil(8);
        if self.len == 0 && words > self.words.capacity() {
            // An empty buffer has no bytes to copy.
            self.words = Words::zeroed(words);
        }
        self.words.grow(words);
        self.len = len;
    }

    /// Returns the number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if the buffer holds no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the allocated size, in bytes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.words.capacity() * 8
    }

    /// Reserves memory for `additional` more bytes, which can then be appended without
    /// reallocation.
    pub fn reserve(&mut self, additional: usize) {
        let words = (self.len + additional).div_ceil(8);
        if words <= self.words.len() {
            return;
        }
        match self.len {
            // An empty buffer has no bytes to copy.
            0 if words > self.words.capacity() => self.words = Words::zeroed(words),
            _ => self.words.grow(words),
        }
    }

    /// Appends bytes.
    #[inline]
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.append(bytes.len()).copy_from_slice(bytes);
    }

    /// Appends `len` bytes of unspecified content and returns them for writing.
    ///
    /// The allocation at least doubles when it grows, so repeated appends take amortized constant
    /// time.
    #[inline]
    pub fn append(&mut self, len: usize) -> &mut [u8] {
        let start = self.len;
        let end = start + len;
        if end.div_ceil(8) > self.words.len() {
            self.words.grow(end.div_ceil(8).max(self.words.len() * 2));
        }
        self.len = end;
        &mut self[start..]
    }

    /// Returns the bytes as values of `T`.
    ///
    /// Returns `None` if the length is not a multiple of the size of `T`, or if the bytes are
    /// misaligned for a `T` with an alignment above 8 bytes.
    #[must_use]
    pub fn values<T: bytemuck::AnyBitPattern>(&self) -> Option<&[T]> {
        bytemuck::try_cast_slice(self).ok()
    }

    /// Returns the bytes as mutable values of `T`, or `None` as for [`values`](Self::values).
    #[must_use]
    pub fn values_mut<T: bytemuck::Pod>(&mut self) -> Option<&mut [T]> {
        bytemuck::try_cast_slice_mut(self).ok()
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<&[u8]> for Buffer {
    fn from(bytes: &[u8]) -> Self {
        let mut buffer = Self::zeroed(bytes.len());
        buffer.copy_from_slice(bytes);
        buffer
    }
}

impl From<Vec<u8>> for Buffer {
    /// Copies the bytes, because a `Vec<u8>` may be unaligned.
    fn from(bytes: Vec<u8>) -> Self {
        Self::from(bytes.as_slice())
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Buffer {}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_and_views() {
        let mut buffer = Buffer::from(&[1, 0, 0, 0, 2, 0, 0, 0][..]);
        assert_eq!(buffer.values::<u32>(), Some(&[1, 2][..]));
        buffer.extend_from_slice(&[3, 0, 0, 0]);
        assert_eq!(buffer.values::<u32>(), Some(&[1, 2, 3][..]));
        assert_eq!(buffer.values::<u64>(), None);
        buffer.resize(4);
        assert_eq!(&*buffer, [1, 0, 0, 0]);
        buffer.resize(20);
        assert_eq!(buffer.len(), 20);
        let of_vec = Buffer::from(vec![1, 2, 3]);
        assert_eq!(AsRef::<[u8]>::as_ref(&of_vec), [1, 2, 3]);
        assert_eq!(of_vec.values::<u8>(), Some(&[1, 2, 3][..]));
    }

    #[test]
    fn large_pages_behave_like_the_heap() {
        let large = 5 << 20;
        let mut buffer = Buffer::in_large_pages(large);
        assert_eq!(buffer.len(), large);
        assert!(buffer.iter().all(|byte| *byte == 0));
        buffer[0] = 7;
        buffer[large - 1] = 9;
        let copy = buffer.clone();
        assert_eq!(copy, buffer);
        buffer.resize(buffer.capacity());
        buffer.extend_from_slice(&[1, 2]);
        assert_eq!(buffer[..large], copy[..]);
        assert!(buffer[large..buffer.len() - 2].iter().all(|byte| *byte == 0));
        assert_eq!(buffer[buffer.len() - 2..], [1, 2]);
        buffer.resize(8);
        assert_eq!(buffer.values::<u64>(), Some(&[7][..]));
        assert_eq!(Buffer::in_large_pages(large).values::<u64>().map(<[u64]>::len), Some(large / 8));
        assert_eq!(Buffer::in_large_pages(3).capacity(), 8);
    }
}
