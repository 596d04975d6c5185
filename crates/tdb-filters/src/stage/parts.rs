//! The metadata of the shuffles, XOR and float scale: `u32` number of parts, `u32` bytes of each.

use tdb_types::ByteReader;

use crate::FilterError;
use crate::flow::{Metadata, finish, put_u32, split};

/// The lengths of the parts of `data`.
#[derive(Debug)]
pub(crate) struct Parts<'a, 'd> {
    lengths: ByteReader<'a>,
    data: &'d [u8],
    filter: &'static str,
}

impl<'a, 'd> Parts<'a, 'd> {
    /// Reads the header; the lengths follow as the parts are taken.
    pub(crate) fn read(meta: &mut ByteReader<'a>, data: &'d [u8], filter: &'static str) -> Result<Self, FilterError> {
        let count = u64::from(meta.u32("number of parts")?);
        let lengths = meta.sub("lengths of parts", count * 4)?;
        Ok(Self { lengths, data, filter })
    }

    /// How many parts are left.
    #[cfg(feature = "webp")]
    pub(crate) fn len(&self) -> u64 {
        self.lengths.remaining() as u64 / 4
    }

    /// The next part; after the last nothing may be left.
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
