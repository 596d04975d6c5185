//! Metadata of byteshuffle, bitshuffle, XOR, float scale and WebP: the `u32` number of parts, and
//! the `u32` length of each part.

use tdb_types::ByteReader;

use crate::FilterError;
use crate::flow::{Metadata, finish, put_u32, split};

/// An iterator over the parts of `data`.
#[derive(Debug)]
pub(crate) struct Parts<'a, 'd> {
    lengths: ByteReader<'a>,
    data: &'d [u8],
    filter: &'static str,
}

impl<'a, 'd> Parts<'a, 'd> {
    /// Reads the number of parts. [`next`](Self::next) reads the lengths.
    pub(crate) fn read(meta: &mut ByteReader<'a>, data: &'d [u8], filter: &'static str) -> Result<Self, FilterError> {
        let count = u64::from(meta.u32("number of parts")?);
        let lengths = meta.sub("lengths of parts", count * 4)?;
        Ok(Self { lengths, data, filter })
    }

    /// Returns the number of remaining parts.
    #[cfg(feature = "webp")]
    pub(crate) fn len(&self) -> u64 {
        self.lengths.remaining() as u64 / 4
    }

    /// Returns the next part. After the last part, fails if data remain.
    pub(crate) fn next(&mut self) -> Result<Option<&'d [u8]>, FilterError> {
        if self.lengths.remaining() == 0 {
            finish(self.data, self.filter)?;
            return Ok(None);
        }
        let length = self.lengths.u32("length of a part")?;
        split(&mut self.data, self.filter, u64::from(length)).map(Some)
    }
}

/// Adds the metadata for parts of these lengths.
pub(crate) fn write(meta: &mut Metadata<'_>, lengths: &[usize]) -> Result<(), FilterError> {
    meta.add(|bytes| {
        put_u32(bytes, "number of parts", lengths.len())?;
        lengths.iter().try_for_each(|&length| put_u32(bytes, "length of a part", length))
    })
}
