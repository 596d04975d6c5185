//! The cells of one tile.

use tdb_types::saturating_len;

/// The cells of one field in one tile, as they are stored before the filters.
#[derive(Clone, Copy, Debug)]
pub struct TileCells<'a> {
    /// Little-endian values, or the bytes of all strings.
    pub values: &'a [u8],
    /// Where each cell begins in `values`, in bytes, if cells differ in length; the last one ends with the values.
    pub offsets: Option<&'a [u64]>,
    /// One byte per cell, 0 for null, if the field is nullable.
    pub validity: Option<&'a [u8]>,
}

impl<'a> TileCells<'a> {
    /// Whether a cell is there and not null.
    pub(super) fn is_valid(&self, cell: usize) -> bool {
        self.validity.is_none_or(|validity| validity.get(cell).is_some_and(|byte| *byte != 0))
    }

    /// The bytes of a cell of variable length; empty if there is no such cell.
    pub(super) fn string(&self, cell: usize) -> &'a [u8] {
        let offsets = self.offsets.unwrap_or_default();
        let at = |cell: usize| match offsets.get(cell) {
            Some(start) => saturating_len(*start),
            None => self.values.len(),
        };
        self.values.get(at(cell)..at(cell.saturating_add(1))).unwrap_or_default()
    }
}
