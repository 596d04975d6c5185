//! Offsets of cells of variable length.

use std::ops::Range;

/// The ascending start offsets of cells of variable length, followed by the end of the last cell.
///
/// `n` cells have `n + 1` offsets. The first offset may be greater than 0.
#[derive(Clone, Copy, Debug)]
pub struct Offsets<'a> {
    offsets: &'a [u64],
    /// Bytes per unit of an offset.
    unit: u64,
}

impl<'a> Offsets<'a> {
    /// Creates offsets in bytes, as in tiles.
    #[must_use]
    pub fn in_bytes(offsets: &'a [u64]) -> Self {
        Self { offsets, unit: 1 }
    }

    /// Creates offsets in values of `size` bytes, as in columns.
    #[must_use]
    pub fn in_values(offsets: &'a [u64], size: usize) -> Self {
        Self { offsets, unit: size as u64 }
    }

    /// Returns the number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns `true` if there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the offsets of a range of cells, or of no cells if the range ends beyond the last
    /// cell.
    #[must_use]
    pub fn slice(&self, cells: Range<usize>) -> Self {
        let offsets = cells.end.checked_add(1).and_then(|end| self.offsets.get(cells.start..end));
        Self { offsets: offsets.unwrap_or_default(), ..*self }
    }

    /// Returns the byte range of a cell. Returns `None` if the cell does not exist, or if its
    /// offsets descend or exceed `usize` in bytes.
    #[inline]
    #[must_use]
    pub fn bytes_of(&self, cell: usize) -> Option<Range<usize>> {
        let start = *self.offsets.get(cell)?;
        bytes_between(start, *self.offsets.get(cell.checked_add(1)?)?, self.unit)
    }

    /// Returns the byte range of all cells. Returns `None` if the last offset is less than the
    /// first, if either exceeds `usize` in bytes, or if there are no offsets.
    #[must_use]
    pub fn bytes(&self) -> Option<Range<usize>> {
        bytes_between(*self.offsets.first()?, *self.offsets.last()?, self.unit)
    }

    /// Iterates over the byte ranges of the cells. Yields `None` for a cell with invalid offsets.
    pub(super) fn each(self) -> impl Iterator<Item = Option<Range<usize>>> + use<'a> {
        self.offsets.windows(2).map(move |ends| bytes_between(ends[0], ends[1], self.unit))
    }

    /// Returns the offsets if they have the form of a tile: counted in bytes, starting at 0.
    /// Returns `None` for other offsets and for an empty list.
    #[must_use]
    pub fn as_in_tile(&self) -> Option<&'a [u64]> {
        (self.unit == 1 && self.offsets.first() == Some(&0)).then_some(self.offsets)
    }

    /// Iterates over the offsets in bytes, shifted so that the first is `base`. Descending offsets
    /// wrap around.
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
