//! Shared slices of buffers.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use super::Buffer;

/// A reference-counted slice of a [`Buffer`]. Cloning and slicing copy no bytes.
///
/// Dropping the last slice frees the buffer.
///
/// ```
/// use tdb_types::{Buffer, SharedBuffer};
///
/// let bytes = SharedBuffer::from(Buffer::from(&[1, 0, 2, 0, 3, 0][..]));
/// let rest = bytes.slice(2..6);
/// assert_eq!(rest.values::<u16>(), Some(&[2, 3][..]));
/// assert_eq!(rest.as_ptr(), bytes[2..].as_ptr());
/// ```
#[derive(Clone, Default)]
pub struct SharedBuffer {
    buffer: Arc<Buffer>,
    start: usize,
    len: usize,
}

impl SharedBuffer {
    /// Returns the bytes in `range` as another slice of the same buffer, without copying.
    ///
    /// # Panics
    /// Panics if `range` is reversed or ends after the last byte.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.len, "invalid range {range:?} of {} bytes", self.len);
        Self { buffer: Arc::clone(&self.buffer), start: self.start + range.start, len: range.end - range.start }
    }

    /// Returns the bytes as values of `T`. Returns `None` if the start is misaligned for `T`, or
    /// the length is not a multiple of the size of `T`.
    #[must_use]
    pub fn values<T: bytemuck::AnyBitPattern>(&self) -> Option<&[T]> {
        bytemuck::try_cast_slice(self).ok()
    }

    /// Returns `true` if the slice covers the entire buffer.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.start == 0 && self.len == self.buffer.len()
    }

    /// Returns the entire underlying buffer, so that its memory can be reused.
    ///
    /// # Errors
    /// Returns the slice itself if other slices of the buffer exist.
    pub fn into_whole(self) -> Result<Buffer, Self> {
        let Self { buffer, start, len } = self;
        Arc::try_unwrap(buffer).map_err(|buffer| Self { buffer, start, len })
    }
}

impl From<Buffer> for SharedBuffer {
    fn from(buffer: Buffer) -> Self {
        let len = buffer.len();
        Self { buffer: Arc::new(buffer), start: 0, len }
    }
}

impl Deref for SharedBuffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.buffer[self.start..self.start + self.len]
    }
}

impl AsRef<[u8]> for SharedBuffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl PartialEq for SharedBuffer {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for SharedBuffer {}

impl fmt::Debug for SharedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedBuffer({} bytes)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_share_one_buffer() {
        let all = SharedBuffer::from(Buffer::from(&[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0][..]));
        let part = all.slice(4..12).slice(0..4);
        assert_eq!(part.values::<u32>(), Some(&[2][..]));
        // Byte 1 is misaligned for `u32`.
        assert_eq!(all.slice(1..5).values::<u32>(), None);
        assert_eq!(part, SharedBuffer::from(Buffer::from(&[2, 0, 0, 0][..])));
        let all = all.into_whole().unwrap_err();
        assert_eq!(all.len(), 12);
        drop(all);
        assert_eq!(part.into_whole().map(|buffer| buffer.len()), Ok(12));
        assert!(SharedBuffer::default().is_empty());
    }

    #[test]
    #[should_panic(expected = "invalid range 0..2 of 1 bytes")]
    fn slices_end_at_their_last_byte() {
        let _ = SharedBuffer::from(Buffer::zeroed(9)).slice(8..9).slice(0..2);
    }
}
