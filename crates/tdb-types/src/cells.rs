//! The cells of one field, wherever they lie.

use std::ops::Range;

/// The cells of one field, borrowed: values, and where cells vary in length or may be null, offsets and validity.
///
/// Two memory layouts have this one view. In unfiltered **tiles** offsets count bytes, and a byte for each cell says
/// whether it is null. In **columns** offsets count values, and it is a bit, as in Arrow. Conditions are evaluated over
/// either.
///
/// ```
/// use tdb_types::{Cells, Offsets, Validity};
///
/// let words = Cells::var(Offsets::in_bytes(&[0, 3, 3, 6]), b"onetwo").with_validity(Validity::Bits(&[0b101]));
/// assert_eq!(words.var_cells().collect::<Vec<_>>(), [&b"one"[..], b"", b"two"]);
/// assert!(words.is_valid(0) && !words.is_valid(1) && words.is_valid(2));
/// let pairs = Cells::fixed(&[1, 0, 2, 0, 3, 0, 4, 0]);
/// assert_eq!(pairs.fixed_cells(4).count(), 2);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    values: &'a [u8],
    offsets: Option<Offsets<'a>>,
    validity: Option<Validity<'a>>,
}

/// Where cells of variable length begin in the values, and at last where the last one ends; ascending.
#[derive(Clone, Copy, Debug)]
pub struct Offsets<'a> {
    offsets: &'a [u64],
    /// Bytes that an offset counts in.
    unit: u64,
}

/// Which cells hold a value, and are not null.
#[derive(Clone, Copy, Debug)]
pub enum Validity<'a> {
    /// One byte for each cell, 0 where it is null.
    Bytes(&'a [u8]),
    /// One bit for each cell, least significant first, set where it is valid.
    Bits(&'a [u8]),
}

impl<'a> Cells<'a> {
    /// Cells of a fixed size, back to back, in little-endian bytes.
    #[must_use]
    pub fn fixed(values: &'a [u8]) -> Self {
        Self { values, offsets: None, validity: None }
    }

    /// Cells of variable length.
    #[must_use]
    pub fn var(offsets: Offsets<'a>, values: &'a [u8]) -> Self {
        Self { values, offsets: Some(offsets), validity: None }
    }

    /// The same cells, of which some may be null.
    #[must_use]
    pub fn with_validity(self, validity: impl Into<Option<Validity<'a>>>) -> Self {
        Self { validity: validity.into(), ..self }
    }

    /// The values of all cells.
    #[must_use]
    pub fn values(&self) -> &'a [u8] {
        self.values
    }

    /// Where cells of variable length lie; `None` if all have the same size.
    #[must_use]
    pub fn offsets(&self) -> Option<Offsets<'a>> {
        self.offsets
    }

    /// Which cells are null; `None` if none is.
    #[must_use]
    pub fn validity(&self) -> Option<Validity<'a>> {
        self.validity
    }

    /// Whether a cell holds a value. Cells that the validity doesn't speak of are null.
    #[inline]
    #[must_use]
    pub fn is_valid(&self, cell: usize) -> bool {
        self.validity.is_none_or(|validity| validity.is_valid(cell))
    }

    /// The bytes of each cell of `size` bytes.
    pub fn fixed_cells(&self, size: usize) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.values.chunks_exact(size.max(1))
    }

    /// The bytes of each cell of variable length; one that doesn't lie within the values counts as empty.
    pub fn var_cells(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let Self { values, offsets, .. } = *self;
        let offsets = offsets.unwrap_or(Offsets::in_bytes(&[]));
        let unit = offsets.unit;
        offsets.offsets.windows(2).map(move |ends| {
            bytes_between(ends[0], ends[1], unit).and_then(|range| values.get(range)).unwrap_or_default()
        })
    }
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

    /// The bytes of a cell; `None` if there is no such cell, or its offsets run backwards or beyond what memory can hold.
    #[must_use]
    pub fn bytes_of(&self, cell: usize) -> Option<Range<usize>> {
        let start = *self.offsets.get(cell)?;
        bytes_between(start, *self.offsets.get(cell.checked_add(1)?)?, self.unit)
    }
}

fn bytes_between(start: u64, end: u64, unit: u64) -> Option<Range<usize>> {
    let byte = |offset: u64| usize::try_from(offset.checked_mul(unit)?).ok();
    let (start, end) = byte(start).zip(byte(end))?;
    (start <= end).then_some(start..end)
}

impl Validity<'_> {
    /// Whether a cell holds a value. Cells beyond the end are null.
    #[inline]
    #[must_use]
    pub fn is_valid(&self, cell: usize) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.get(cell).is_some_and(|valid| *valid != 0),
            Self::Bits(bits) => bits.get(cell / 8).is_some_and(|bits| bits >> (cell % 8) & 1 != 0),
        }
    }

    /// Calls `each` with the mask's entry of each cell, and whether the cell is valid.
    #[inline]
    pub fn zip_mask(&self, mask: &mut [bool], each: impl Fn(&mut bool, bool)) {
        match self {
            Self::Bytes(bytes) => {
                let valid = bytes.iter().map(|valid| *valid != 0).chain(std::iter::repeat(false));
                mask.iter_mut().zip(valid).for_each(|(entry, valid)| each(entry, valid));
            }
            Self::Bits(bits) => {
                let bits = bits.iter().copied().chain(std::iter::repeat(0));
                for (entries, bits) in mask.chunks_mut(8).zip(bits) {
                    (0..).zip(entries).for_each(|(bit, entry)| each(entry, bits >> bit & 1 != 0));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_say_the_same() {
        let bytes = [1u8, 0, 2, 0, 3, 0];
        let tile = Cells::var(Offsets::in_bytes(&[0, 2, 2, 6]), &bytes).with_validity(Validity::Bytes(&[9, 1, 0]));
        let column = Cells::var(Offsets::in_values(&[0, 1, 1, 3], 2), &bytes).with_validity(Validity::Bits(&[0b011]));
        assert_eq!(tile.var_cells().collect::<Vec<_>>(), column.var_cells().collect::<Vec<_>>());
        for cell in 0..4 {
            assert_eq!(tile.is_valid(cell), column.is_valid(cell), "{cell}");
            let ranges = [tile, column].map(|cells| cells.offsets().and_then(|offsets| offsets.bytes_of(cell)));
            assert_eq!(ranges[0], ranges[1], "{cell}");
        }
        for cells in [tile, column] {
            let mut mask = [true; 4];
            cells
                .validity()
                .into_iter()
                .for_each(|validity| validity.zip_mask(&mut mask, |entry, valid| *entry = valid));
            assert_eq!(mask, [true, true, false, false]);
        }
    }

    #[test]
    fn offsets_that_lie_give_empty_cells() {
        let cells = Cells::var(Offsets::in_values(&[0, 5, 2, u64::MAX, 1], 8), &[0; 16]);
        assert_eq!(cells.var_cells().collect::<Vec<_>>(), [&[0u8; 0][..]; 4]);
        assert_eq!(cells.offsets().and_then(|offsets| offsets.bytes_of(1)), None);
        assert_eq!(cells.offsets().and_then(|offsets| offsets.bytes_of(usize::MAX)), None);
        assert_eq!(Cells::fixed(&[1, 2, 3]).var_cells().count(), 0);
        assert_eq!(Cells::fixed(&[1, 2, 3]).fixed_cells(0).count(), 3);
    }
}
