//! Coordinates of many cells along one dimension.

/// The coordinates of cells along one dimension.
#[derive(Clone, Copy, Debug)]
pub enum CoordinateColumn<'a> {
    /// [Ordered keys](tdb_types::ordered_key) of a fixed-size datatype.
    Keys(&'a [u64]),
    /// Little-endian values of a fixed-size datatype, one after the other.
    Values(&'a [u8]),
    /// Strings: the one of cell `i` begins at `offsets[i]` in `values` and ends where the next begins, the last one at the
    /// end of `values`.
    Strings {
        /// Where each string begins; one per cell.
        offsets: &'a [u64],
        /// The bytes of all strings.
        values: &'a [u8],
    },
}

impl<'a> CoordinateColumn<'a> {
    /// How many cells the column has, if values take `size` bytes each.
    pub(crate) fn len(&self, size: usize) -> usize {
        match self {
            Self::Keys(keys) => keys.len(),
            Self::Values(bytes) => bytes.len().checked_div(size).unwrap_or(0),
            Self::Strings { offsets, .. } => offsets.len(),
        }
    }

    /// The string of a cell; empty if there is none.
    #[must_use]
    pub fn string(&self, cell: usize) -> &'a [u8] {
        let Self::Strings { offsets, values } = self else { return &[] };
        let position = |cell: usize| offsets.get(cell).and_then(|offset| usize::try_from(*offset).ok());
        let end = position(cell + 1).unwrap_or(values.len());
        position(cell).and_then(|start| values.get(start..end)).unwrap_or_default()
    }
}
