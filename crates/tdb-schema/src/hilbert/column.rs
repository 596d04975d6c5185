//! Columns of coordinates along a dimension.

/// The coordinates of cells along a dimension.
#[derive(Clone, Copy, Debug)]
pub enum CoordinateColumn<'a> {
    /// [Ordered keys](tdb_types::ordered_key) of a fixed-size datatype.
    Keys(&'a [u64]),
    /// Contiguous little-endian values of a fixed-size datatype.
    Values(&'a [u8]),
    /// Strings. Each string ends at the start of the next string, the last at the end of `values`.
    Strings {
        /// The start of each string in `values`, one offset per cell.
        offsets: &'a [u64],
        /// The concatenated bytes of all strings.
        values: &'a [u8],
    },
}

impl<'a> CoordinateColumn<'a> {
    /// Returns the number of cells, for values of `size` bytes.
    pub(crate) fn len(&self, size: usize) -> usize {
        match self {
            Self::Keys(keys) => keys.len(),
            Self::Values(bytes) => bytes.len().checked_div(size).unwrap_or(0),
            Self::Strings { offsets, .. } => offsets.len(),
        }
    }

    /// Returns the string of a cell. Returns an empty string if `cell` is out of bounds or the
    /// column has no strings.
    #[must_use]
    pub fn string(&self, cell: usize) -> &'a [u8] {
        let Self::Strings { offsets, values } = self else { return &[] };
        let position = |cell: usize| offsets.get(cell).and_then(|offset| usize::try_from(*offset).ok());
        let end = position(cell + 1).unwrap_or(values.len());
        position(cell).and_then(|start| values.get(start..end)).unwrap_or_default()
    }
}
