//! Validity of cells.

use std::ops::Range;

/// The validity of cells: for each cell, valid or null. Cells beyond the end are null.
#[derive(Clone, Copy, Debug)]
pub enum Validity<'a> {
    /// One byte per cell, 0 for null, as in tiles.
    Bytes(&'a [u8]),
    /// One bit per cell, least significant bit first, set for valid cells, as in columns.
    Bits {
        /// The bitmap.
        bits: &'a [u8],
        /// The index of the first cell's bit.
        first: usize,
    },
}

impl<'a> Validity<'a> {
    /// Creates a validity from a bitmap that starts with the first cell's bit.
    #[must_use]
    pub fn bits(bits: &'a [u8]) -> Self {
        Self::Bits { bits, first: 0 }
    }

    /// Returns `true` if the cell is not null.
    #[inline]
    #[must_use]
    pub fn is_valid(&self, cell: usize) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.get(cell).is_some_and(|valid| *valid != 0),
            Self::Bits { bits, first } => {
                let bit = first.saturating_add(cell);
                bits.get(bit / 8).is_some_and(|bits| bits >> (bit % 8) & 1 != 0)
            }
        }
    }

    /// Returns the validity of a range of cells.
    #[must_use]
    pub fn slice(&self, cells: Range<usize>) -> Self {
        match *self {
            Self::Bytes(bytes) => {
                let end = cells.end.min(bytes.len());
                Self::Bytes(bytes.get(cells.start..end).unwrap_or_default())
            }
            Self::Bits { bits, first } => {
                let (start, end) = (first.saturating_add(cells.start), first.saturating_add(cells.end));
                let end = end.div_ceil(8).min(bits.len());
                Self::Bits { bits: bits.get(start / 8..end).unwrap_or_default(), first: start % 8 }
            }
        }
    }

    /// Returns the number of nulls among the first `cells` cells.
    #[must_use]
    pub fn null_count(&self, cells: usize) -> usize {
        let valid = match self {
            Self::Bytes(bytes) => bytes.iter().take(cells).filter(|valid| **valid != 0).count(),
            Self::Bits { .. } => (0..cells).filter(|cell| self.is_valid(*cell)).count(),
        };
        cells - valid
    }

    /// Calls `each` with each entry of `mask`, and with `true` if the cell at the same index is
    /// valid.
    #[inline]
    pub fn zip_mask(&self, mask: &mut [bool], each: impl Fn(&mut bool, bool)) {
        self.zip(mask, each);
    }

    /// Fills `to` with one byte per cell, 0 for null, as in tiles.
    pub fn write_bytes(&self, to: &mut [u8]) {
        match self {
            // Copies the byte of a valid cell unchanged, whatever its nonzero value.
            Self::Bytes(bytes) => {
                let (there, beyond) = to.split_at_mut(bytes.len().min(to.len()));
                there.copy_from_slice(&bytes[..there.len()]);
                beyond.fill(0);
            }
            Self::Bits { .. } => self.zip(to, |byte, valid| *byte = u8::from(valid)),
        }
    }

    /// Writes one byte to `to` for each of the given cells, 0 for null.
    pub fn write_bytes_of(&self, cells: impl Iterator<Item = usize>, to: &mut [u8]) {
        match *self {
            Self::Bytes(bytes) => {
                to.iter_mut().zip(cells).for_each(|(to, cell)| *to = bytes.get(cell).copied().unwrap_or(0));
            }
            Self::Bits { bits, first } => to.iter_mut().zip(cells).for_each(|(to, cell)| {
                let bit = first.saturating_add(cell);
                *to = bits.get(bit / 8).map_or(0, |bits| bits >> (bit % 8) & 1);
            }),
        }
    }

    #[inline]
    fn zip<T>(&self, items: &mut [T], each: impl Fn(&mut T, bool)) {
        match *self {
            Self::Bytes(bytes) => {
                let valid = bytes.iter().map(|valid| *valid != 0).chain(std::iter::repeat(false));
                items.iter_mut().zip(valid).for_each(|(item, valid)| each(item, valid));
            }
            Self::Bits { bits, first } => {
                let bits = bits.get(first / 8..).unwrap_or_default();
                let zip_byte = |items: &mut [T], bits: u8| {
                    (0..).zip(items).for_each(|(bit, item)| each(item, bits >> bit & 1 != 0));
                };
                // Cells before the first byte boundary of the bitmap.
                let head = (8 - first % 8) % 8;
                let (before, items) = items.split_at_mut(head.min(items.len()));
                zip_byte(before, bits.first().map_or(0, |bits| bits >> (first % 8)));
                let bits = bits.iter().skip(usize::from(head > 0)).copied().chain(std::iter::repeat(0));
                items.chunks_mut(8).zip(bits).for_each(|(items, bits)| zip_byte(items, bits));
            }
        }
    }
}
