//! Borrowed views of the cells of one field.

mod offsets;
mod validity;

use std::ops::Range;

pub use offsets::Offsets;
pub use validity::Validity;

/// A borrowed view of the cells of one field: values, and optionally offsets and validity.
///
/// The view supports two memory layouts. In an unfiltered **tile**, offsets count bytes and
/// validity takes one byte per cell. In a **column**, offsets count values and validity takes one
/// bit per cell, as in Arrow. Conditions, statistics and the tile writer accept either layout.
///
/// The constructors do not check offsets and validity. A cell with invalid offsets, or beyond the
/// values, reads as empty. A range that ends beyond the last cell selects no cells.
///
/// ```
/// use tdb_types::{Cells, Offsets, Validity};
///
/// let words = Cells::var(Offsets::in_bytes(&[0, 3, 3, 6]), b"onetwo").with_validity(Validity::bits(&[0b101]));
/// assert_eq!(words.var_cells().collect::<Vec<_>>(), [&b"one"[..], b"", b"two"]);
/// assert!(words.is_valid(0) && !words.is_valid(1) && words.is_valid(2));
/// let last = words.slice(1..3);
/// assert_eq!((last.len(), last.bytes(), last.cell(1)), (2, &b"two"[..], &b"two"[..]));
/// assert!(!last.is_valid(0) && last.is_valid(1));
/// let pairs = Cells::fixed(&[1, 0, 2, 0, 3, 0, 4, 0], 4);
/// assert_eq!((pairs.len(), pairs.cell(1)), (2, &[3, 0, 4, 0][..]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    values: &'a [u8],
    extents: Extents<'a>,
    validity: Option<Validity<'a>>,
}

/// The byte ranges of the cells.
#[derive(Clone, Copy, Debug)]
enum Extents<'a> {
    /// The same number of bytes for each cell.
    Size(usize),
    Offsets(Offsets<'a>),
}

impl<'a> Cells<'a> {
    /// Creates a view of contiguous cells of `size` bytes, in little-endian order. A `size` of 0
    /// counts as 1.
    #[must_use]
    pub fn fixed(values: &'a [u8], size: usize) -> Self {
        Self { values, extents: Extents::Size(size.max(1)), validity: None }
    }

    /// Creates a view of cells of variable length.
    #[must_use]
    pub fn var(offsets: Offsets<'a>, values: &'a [u8]) -> Self {
        Self { values, extents: Extents::Offsets(offsets), validity: None }
    }

    /// Sets the validity, which marks null cells. Without a validity (`None`), all cells are valid.
    #[must_use]
    pub fn with_validity(self, validity: impl Into<Option<Validity<'a>>>) -> Self {
        Self { validity: validity.into(), ..self }
    }

    /// Returns the number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.extents {
            Extents::Size(size) => self.values.len() / size,
            Extents::Offsets(offsets) => offsets.len(),
        }
    }

    /// Returns `true` if there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the underlying values. For cells of variable length, these may include bytes before
    /// and after the cells of this view.
    #[must_use]
    pub fn values(&self) -> &'a [u8] {
        self.values
    }

    /// Returns the bytes of this view's cells, or no bytes if the offsets are invalid.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        match self.extents {
            Extents::Size(_) => self.values,
            Extents::Offsets(offsets) => offsets.bytes().and_then(|range| self.values.get(range)).unwrap_or_default(),
        }
    }

    /// Returns the size of a cell in bytes, or `None` for cells of variable length.
    #[must_use]
    pub fn size(&self) -> Option<usize> {
        match self.extents {
            Extents::Size(size) => Some(size),
            Extents::Offsets(_) => None,
        }
    }

    /// Returns the offsets of cells of variable length, or `None` for cells of fixed size.
    #[must_use]
    pub fn offsets(&self) -> Option<Offsets<'a>> {
        match self.extents {
            Extents::Size(_) => None,
            Extents::Offsets(offsets) => Some(offsets),
        }
    }

    /// Returns the validity, or `None` if all cells are valid because no validity was set.
    #[must_use]
    pub fn validity(&self) -> Option<Validity<'a>> {
        self.validity
    }

    /// Returns `true` if the cell is not null. Cells beyond the end of the validity are null.
    /// Without a validity, all cells are valid.
    #[inline]
    #[must_use]
    pub fn is_valid(&self, cell: usize) -> bool {
        self.validity.is_none_or(|validity| validity.is_valid(cell))
    }

    /// Returns the bytes of a cell, even if it is null. Returns no bytes if the cell does not
    /// exist.
    #[inline]
    #[must_use]
    pub fn cell(&self, cell: usize) -> &'a [u8] {
        let range = match self.extents {
            Extents::Size(size) => cell.checked_mul(size).and_then(|start| Some(start..start.checked_add(size)?)),
            Extents::Offsets(offsets) => offsets.bytes_of(cell),
        };
        range.and_then(|range| self.values.get(range)).unwrap_or_default()
    }

    /// Returns a view of a range of cells, without copying. The view is empty if the range ends
    /// beyond the last cell.
    #[must_use]
    pub fn slice(&self, cells: Range<usize>) -> Self {
        let validity = self.validity.map(|validity| validity.slice(cells.clone()));
        match self.extents {
            Extents::Size(size) => {
                let bytes = cells.start.saturating_mul(size)..cells.end.saturating_mul(size);
                Self { values: self.values.get(bytes).unwrap_or_default(), validity, ..*self }
            }
            Extents::Offsets(offsets) => Self { extents: Extents::Offsets(offsets.slice(cells)), validity, ..*self },
        }
    }

    /// Iterates over the bytes of each cell of fixed size. Yields no cells for fields of variable
    /// length.
    pub fn fixed_cells(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (values, size) = match self.extents {
            Extents::Size(size) => (self.values, size),
            Extents::Offsets(_) => (&[][..], 1),
        };
        values.chunks_exact(size)
    }

    /// Iterates over the bytes of each cell of variable length. Yields no cells for fields of fixed
    /// size.
    pub fn var_cells(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let values = self.values;
        let offsets = self.offsets().unwrap_or(Offsets::in_bytes(&[]));
        offsets.each().map(move |range| range.and_then(|range| values.get(range)).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
