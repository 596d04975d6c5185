//! The cells of one field, wherever they lie.

mod offsets;
mod validity;

use std::ops::Range;

pub use offsets::Offsets;
pub use validity::Validity;

/// The cells of one field, borrowed: values, and where cells vary in length or may be null, offsets and validity.
///
/// Two memory layouts have this one view. In unfiltered **tiles** offsets count bytes, and a byte for each cell says
/// whether it is null. In **columns** offsets count values, and it is a bit, as in Arrow. Conditions and statistics are
/// computed, and tiles written, from either.
///
/// What a view says of cells may be wrong: a cell that doesn't lie within the values counts as empty, and what is beyond
/// the cells that are there counts as nothing. Whoever made it from checked parts need not care.
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

/// Which bytes of the values are a cell's.
#[derive(Clone, Copy, Debug)]
enum Extents<'a> {
    /// As many as of every other.
    Size(usize),
    Offsets(Offsets<'a>),
}

impl<'a> Cells<'a> {
    /// Cells of `size` bytes, back to back, in little-endian bytes.
    #[must_use]
    pub fn fixed(values: &'a [u8], size: usize) -> Self {
        Self { values, extents: Extents::Size(size.max(1)), validity: None }
    }

    /// Cells of variable length.
    #[must_use]
    pub fn var(offsets: Offsets<'a>, values: &'a [u8]) -> Self {
        Self { values, extents: Extents::Offsets(offsets), validity: None }
    }

    /// The same cells, with validity: some may be null.
    #[must_use]
    pub fn with_validity(self, validity: impl Into<Option<Validity<'a>>>) -> Self {
        Self { validity: validity.into(), ..self }
    }

    /// How many cells there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.extents {
            Extents::Size(size) => self.values.len() / size,
            Extents::Offsets(offsets) => offsets.len(),
        }
    }

    /// Whether there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values that cells of variable length lie in, with what is around these cells; of others, just their values.
    #[must_use]
    pub fn values(&self) -> &'a [u8] {
        self.values
    }

    /// The bytes of all cells, without what is around them.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        match self.extents {
            Extents::Size(_) => self.values,
            Extents::Offsets(offsets) => offsets.bytes().and_then(|range| self.values.get(range)).unwrap_or_default(),
        }
    }

    /// Bytes of a cell; `None` if they vary in length.
    #[must_use]
    pub fn size(&self) -> Option<usize> {
        match self.extents {
            Extents::Size(size) => Some(size),
            Extents::Offsets(_) => None,
        }
    }

    /// Where cells of variable length lie; `None` if all have the same size.
    #[must_use]
    pub fn offsets(&self) -> Option<Offsets<'a>> {
        match self.extents {
            Extents::Size(_) => None,
            Extents::Offsets(offsets) => Some(offsets),
        }
    }

    /// Which cells are null; `None` if no cell can be.
    #[must_use]
    pub fn validity(&self) -> Option<Validity<'a>> {
        self.validity
    }

    /// Whether a cell holds a value. Cells beyond the end of the validity are null.
    #[inline]
    #[must_use]
    pub fn is_valid(&self, cell: usize) -> bool {
        self.validity.is_none_or(|validity| validity.is_valid(cell))
    }

    /// The bytes of a cell, null or not.
    #[inline]
    #[must_use]
    pub fn cell(&self, cell: usize) -> &'a [u8] {
        let range = match self.extents {
            Extents::Size(size) => cell.checked_mul(size).and_then(|start| Some(start..start.checked_add(size)?)),
            Extents::Offsets(offsets) => offsets.bytes_of(cell),
        };
        range.and_then(|range| self.values.get(range)).unwrap_or_default()
    }

    /// Some of the cells, without a copy; no cells if the range reaches beyond the end.
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

    /// The bytes of each cell, if all have the same size; of others nothing.
    pub fn fixed_cells(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (values, size) = match self.extents {
            Extents::Size(size) => (self.values, size),
            Extents::Offsets(_) => (&[][..], 1),
        };
        values.chunks_exact(size)
    }

    /// The bytes of each cell of variable length; of others nothing.
    pub fn var_cells(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let values = self.values;
        let offsets = self.offsets().unwrap_or(Offsets::in_bytes(&[]));
        offsets.each().map(move |range| range.and_then(|range| values.get(range)).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
