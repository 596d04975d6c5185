//! The cells of a tile, field by field.

use std::sync::OnceLock;

use tdb_cells::CellBuffers;
use tdb_cells::order::coordinates::Coordinates;

/// The cells of a tile as they were read.
#[derive(Debug)]
pub(super) struct Columns {
    /// By the places that the source gives them; nothing where nobody has asked for them so far.
    pub(super) fields: Vec<OnceLock<CellBuffers>>,
    /// Which fields are read when somebody asks for them, and about how many bytes of memory they take then.
    pub(super) missing: Vec<usize>,
    pub(super) missing_bytes: usize,
    pub(super) coordinates: Vec<Coordinates>,
    pub(super) times: Times,
    pub(super) fated: Option<Fated>,
    pub(super) cells: usize,
}

impl Columns {
    /// About how many bytes of memory the fields take, whether those are there that nobody may have asked for or not.
    pub(super) fn memory_of_fields(&self) -> usize {
        let fields = self.fields.iter().enumerate().filter(|(place, _)| !self.missing.contains(place));
        fields.filter_map(|(_, cells)| Some(cells.get()?.memory())).sum::<usize>() + self.missing_bytes
    }
}

/// When cells were written.
#[derive(Debug)]
pub(super) enum Times {
    All(u64),
    Each(Vec<u64>),
}

/// The cells of one field of the new fragment.
#[derive(Clone, Copy, Debug)]
pub(super) enum Column<'a> {
    Cells(&'a CellBuffers),
    Numbers(&'a [u64]),
    /// All are this number.
    Number(u64),
    /// All are the field's fill value.
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

/// The fates of the cells of a tile: the greatest number where a cell lives.
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

    /// Puts the cells in another order.
    pub(super) fn reorder(&mut self, cells: &[u32]) {
        for numbers in [&mut self.times, &mut self.indexes] {
            *numbers = cells.iter().map(|cell| numbers[*cell as usize]).collect();
        }
    }
}

/// Cells that are numbers of 64 bits.
pub(super) fn numbers(cells: &CellBuffers) -> Vec<u64> {
    let (values, _) = cells.values.as_chunks::<8>();
    values.iter().map(|value| u64::from_le_bytes(*value)).collect()
}
