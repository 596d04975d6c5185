//! The cells of a tile, field by field.

use std::sync::OnceLock;

use tdb_cells::CellBuffers;
use tdb_cells::order::coordinates::Coordinates;

/// The cells of a tile as read.
#[derive(Debug)]
pub(super) struct Columns {
    /// Cells by field index of the source. Unset until loaded.
    pub(super) fields: Vec<OnceLock<CellBuffers>>,
    /// Indices of the fields to load on demand.
    pub(super) missing: Vec<usize>,
    /// Estimated memory of the cells in these fields, in bytes.
    pub(super) missing_bytes: usize,
    pub(super) coordinates: Vec<Coordinates>,
    pub(super) times: Times,
    pub(super) fated: Option<Fated>,
    pub(super) cells: usize,
}

impl Columns {
    /// Estimates the memory of all fields in bytes, including fields that are not loaded yet.
    pub(super) fn memory_of_fields(&self) -> usize {
        let fields = self.fields.iter().enumerate().filter(|(place, _)| !self.missing.contains(place));
        fields.filter_map(|(_, cells)| Some(cells.get()?.memory())).sum::<usize>() + self.missing_bytes
    }
}

/// Timestamps of cells: one timestamp for all cells, or one per cell.
#[derive(Debug)]
pub(super) enum Times {
    All(u64),
    Each(Vec<u64>),
}

/// The cells of a field of the new fragment.
#[derive(Clone, Copy, Debug)]
pub(super) enum Column<'a> {
    Cells(&'a CellBuffers),
    Numbers(&'a [u64]),
    /// The same number for all cells.
    Number(u64),
    /// The fill value for all cells.
    Fill,
}

impl Times {
    #[inline]
    pub(super) fn of(&self, cell: usize) -> u64 {
        match self {
            Self::All(time) => *time,
            Self::Each(times) => times[cell],
        }
    }
}

/// Deletion time and condition index of each cell. Both are `u64::MAX` for cells that are not
/// deleted.
#[derive(Debug)]
pub(super) struct Fated {
    pub(super) times: Vec<u64>,
    pub(super) indexes: Vec<u64>,
}

impl Fated {
    pub(super) fn times(&self) -> Column<'_> {
        Column::Numbers(&self.times)
    }

    pub(super) fn indexes(&self) -> Column<'_> {
        Column::Numbers(&self.indexes)
    }

    /// Keeps only the cells with these indices, in this order.
    pub(super) fn reorder(&mut self, cells: &[u32]) {
        for numbers in [&mut self.times, &mut self.indexes] {
            *numbers = cells.iter().map(|cell| numbers[*cell as usize]).collect();
        }
    }
}

/// Converts cells to 64-bit numbers.
pub(super) fn numbers(cells: &CellBuffers) -> Vec<u64> {
    let (values, _) = cells.values.as_chunks::<8>();
    values.iter().map(|value| u64::from_le_bytes(*value)).collect()
}
