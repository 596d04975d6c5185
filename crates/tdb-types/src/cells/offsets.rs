//! Where cells of variable length lie.

use std::ops::Range;

/// Where cells of variable length begin in the values, and at last where the last one ends; ascending. There is one more
/// than there are cells; the first need not be 0.
#[derive(Clone, Copy, Debug)]
pub struct Offsets<'a> {
    offsets: &'a [u64],
    /// Bytes that an offset counts in.
    unit: u64,
}

impl<'a> Offsets<'a> {
    /// Offsets that count bytes, as those in tiles.
    #[must_use]
    pub fn in_bytes(offsets: &'a [u64]) -> Self {
        Self { offsets, unit: 1 }
    }

    /// Offsets that count values of `size` bytes, as those in columns.
    #[must_use]
    pub fn in_values(offsets: &'a [u64], size: usize) -> Self {
        Self { offsets, unit: size as u64 }
    }

    /// How many cells there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The offsets of some of the cells; those of no cells if the range reaches beyond the end.
    #[must_use]
    pub fn slice(&self, cells: Range<usize>) -> Self {
        let offsets = cells.end.checked_add(1).and_then(|end| self.offsets.get(cells.start..end));
        Self { offsets: offsets.unwrap_or_default(), ..*self }
    }

    /// The bytes of a cell; `None` if there is no such cell, or its offsets run backwards or beyond what memory can hold.
    #[inline]
    #[must_use]
    pub fn bytes_of(&self, cell: usize) -> Option<Range<usize>> {
        let start = *self.offsets.get(cell)?;
        bytes_between(start, *self.offsets.get(cell.checked_add(1)?)?, self.unit)
    }

    /// The bytes of all cells together; `None` as for [one](Self::bytes_of), or if there is not even an end.
    #[must_use]
    pub fn bytes(&self) -> Option<Range<usize>> {
        bytes_between(*self.offsets.first()?, *self.offsets.last()?, self.unit)
    }

    /// The bytes of each cell; `None` where its offsets lie.
    pub(super) fn each(self) -> impl Iterator<Item = Option<Range<usize>>> + use<'a> {
        self.offsets.windows(2).map(move |ends| bytes_between(ends[0], ends[1], self.unit))
    }

    /// The same offsets as those of a tile have to be: in bytes, the first of them 0. `None` if they aren't so already.
    #[must_use]
    pub fn as_in_tile(&self) -> Option<&'a [u64]> {
        (self.unit == 1 && self.offsets.first() == Some(&0)).then_some(self.offsets)
    }

    /// The offsets in bytes of cells that are put behind `base` bytes of others. Offsets that run backwards wrap around.
    #[inline]
    pub fn moved_to(&self, base: u64) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        let (unit, first) = (self.unit, self.offsets.first().copied().unwrap_or(0));
        self.offsets.iter().map(move |offset| offset.wrapping_sub(first).wrapping_mul(unit).wrapping_add(base))
    }
}

#[inline]
fn bytes_between(start: u64, end: u64, unit: u64) -> Option<Range<usize>> {
    let byte = |offset: u64| usize::try_from(offset.checked_mul(unit)?).ok();
    let (start, end) = byte(start).zip(byte(end))?;
    (start <= end).then_some(start..end)
}
