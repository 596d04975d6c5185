//! Intermediate form of the cells of one field, between an Arrow array and a column to write.

use std::borrow::Cow;

use arrow_buffer::NullBuffer;
use tdb_array::WriteColumn;

/// Cells of one field: little-endian values, offsets counted in values, and a validity bitmap.
#[derive(Debug)]
pub(crate) struct Cells<'a> {
    pub(crate) values: Cow<'a, [u8]>,
    pub(crate) offsets: Option<Cow<'a, [u64]>>,
    pub(crate) validity: Option<Cow<'a, [u8]>>,
}

impl<'a> Cells<'a> {
    /// Converts the cells to a column to write.
    pub(super) fn into_column(self) -> WriteColumn<'a> {
        let column = match self.values {
            Cow::Borrowed(values) => WriteColumn::bytes(values),
            Cow::Owned(values) => WriteColumn::owned(values, None, None),
        };
        let column = match self.offsets {
            Some(offsets) => column.with_offsets(offsets),
            None => column,
        };
        match self.validity {
            Some(validity) => column.with_validity(validity),
            None => column,
        }
    }

    /// Returns the bytes of each cell. `size` is the bytes per cell, or per value for cells of
    /// variable length.
    pub(crate) fn each(&self, size: usize) -> Vec<&[u8]> {
        match &self.offsets {
            None => self.values.chunks_exact(size.max(1)).collect(),
            Some(offsets) => {
                let bytes = |ends: &[u64]| {
                    let (start, end) = (ends[0] as usize * size, ends[1] as usize * size);
                    self.values.get(start..end).unwrap_or_default()
                };
                offsets.windows(2).map(bytes).collect()
            }
        }
    }
}

/// Returns the validity bitmap. Returns `None` if no cell is null.
pub(crate) fn validity(nulls: Option<&NullBuffer>) -> Option<Cow<'_, [u8]>> {
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0)?;
    let bits = nulls.inner();
    let bytes = bits.offset() / 8..(bits.offset() + bits.len()).div_ceil(8);
    match bits.values().get(bytes) {
        Some(borrowed) if bits.offset() % 8 == 0 => Some(Cow::Borrowed(borrowed)),
        _ => Some(Cow::Owned(bits.sliced().as_slice().to_vec())),
    }
}
