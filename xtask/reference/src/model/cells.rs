//! Cells to be written and cells that were read.

use serde::{Deserialize, Serialize};
use tdb_types::Datatype;

use super::bytes::words;
use super::{Bytes, names};

/// Columns of equal length.
pub type Cells = Vec<Column>;

/// The cells of one field.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    /// The cells back to back.
    pub values: Bytes,
    /// For variable-size cells: where each starts in `values`, and at the end the length of `values`.
    #[serde(with = "words")]
    pub offsets: Option<Vec<u64>>,
    /// For nullable fields: one byte per cell, 0 for null.
    pub validity: Option<Bytes>,
}

impl Column {
    /// The bytes of one of so many cells.
    pub fn cell(&self, cells: usize, cell: usize) -> &[u8] {
        match &self.offsets {
            Some(offsets) => &self.values[offsets[cell] as usize..offsets[cell + 1] as usize],
            None => {
                let size = self.values.len() / cells.max(1);
                &self.values[cell * size..(cell + 1) * size]
            }
        }
    }

    /// Some of so many cells, in the order of their places.
    pub fn of_places(&self, cells: usize, places: impl IntoIterator<Item = usize>) -> Self {
        let (mut values, mut offsets, mut validity) = (Vec::new(), vec![0], Vec::new());
        for cell in places {
            values.extend_from_slice(self.cell(cells, cell));
            offsets.push(values.len() as u64);
            validity.extend(self.validity.as_ref().map(|validity| validity[cell]));
        }
        Self {
            name: self.name.clone(),
            values: Bytes(values),
            offsets: self.offsets.is_some().then_some(offsets),
            validity: self.validity.is_some().then_some(Bytes(validity)),
        }
    }
}

/// What a read returned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadResult {
    pub cells: usize,
    /// In the order of the fields asked for.
    pub columns: Vec<ReadColumn>,
    /// How often the query had to be submitted until it was complete.
    pub submits: usize,
}

/// A column that was read, and how to understand it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadColumn {
    #[serde(with = "names")]
    pub datatype: Datatype,
    /// Values per cell; none for a variable number.
    pub cell_val_num: Option<u32>,
    #[serde(flatten)]
    pub column: Column,
}

impl ReadColumn {
    /// The number of cells.
    pub fn len(&self) -> usize {
        match (&self.column.offsets, self.cell_val_num) {
            (Some(offsets), _) => offsets.len() - 1,
            (None, _) => self.column.values.len() / self.cell_size(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes per cell, for cells of a fixed size.
    fn cell_size(&self) -> usize {
        self.cell_val_num.unwrap_or(1) as usize * self.datatype.size()
    }

    /// The bytes of each cell, whether or not it is valid. Some releases give offsets beyond their values: such a cell is none
    /// that anybody expects.
    pub fn cells(&self) -> Vec<&[u8]> {
        let values = &self.column.values;
        let cell = |ends: &[u64]| values.get(ends[0] as usize..ends[1] as usize).unwrap_or(b"beyond the values");
        match &self.column.offsets {
            Some(offsets) => offsets.windows(2).map(cell).collect(),
            None => values.chunks_exact(self.cell_size()).collect(),
        }
    }

    /// The bytes of each cell, none for null.
    pub fn valid_cells(&self) -> Vec<Option<&[u8]>> {
        let valid = |index: usize| self.column.validity.as_ref().is_none_or(|validity| validity[index] != 0);
        self.cells().into_iter().enumerate().map(|(index, cell)| valid(index).then_some(cell)).collect()
    }
}
