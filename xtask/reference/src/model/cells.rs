//! Cells to write and cells that were read.

use serde::{Deserialize, Serialize};
use tdb_types::Datatype;

use super::Bytes;
use super::bytes::words;

/// Columns of equal length.
pub type Cells = Vec<Column>;

/// The bytes of a cell whose offsets are beyond the values of the column.
const BEYOND: &[u8] = b"beyond the values";

/// The cells of a field.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    /// The concatenated cells.
    pub values: Bytes,
    /// For variable-size cells: the start of each cell in `values`, and the length of `values` at
    /// the end.
    #[serde(with = "words")]
    pub offsets: Option<Vec<u64>>,
    /// For nullable fields: one byte per cell, 0 for null.
    pub validity: Option<Bytes>,
}

impl Column {
    /// Returns the bytes of a cell. `cells` is the number of cells of the column. Some releases
    /// return offsets beyond the values. Such a cell equals no expected cell.
    pub fn cell(&self, cells: usize, cell: usize) -> &[u8] {
        let range = match &self.offsets {
            Some(offsets) => offsets[cell] as usize..offsets[cell + 1] as usize,
            None => {
                let size = self.values.len() / cells.max(1);
                cell * size..(cell + 1) * size
            }
        };
        self.values.get(range).unwrap_or(BEYOND)
    }

    /// Returns the number of cells. `size` is the size in bytes of a fixed-size cell.
    pub fn count(&self, size: usize) -> usize {
        self.offsets.as_ref().map_or(self.values.len() / size, |offsets| offsets.len().saturating_sub(1))
    }

    /// Returns the bytes of each cell, also of null cells. `size` is the size in bytes of a
    /// fixed-size cell.
    pub fn cells(&self, size: usize) -> Vec<&[u8]> {
        let cell = |ends: &[u64]| self.values.get(ends[0] as usize..ends[1] as usize).unwrap_or(BEYOND);
        match &self.offsets {
            Some(offsets) => offsets.windows(2).map(cell).collect(),
            None => self.values.chunks_exact(size).collect(),
        }
    }

    /// Returns the size in bytes of values, offsets and validity.
    pub fn byte_count(&self) -> u64 {
        let offsets = self.offsets.as_ref().map_or(0, |offsets| size_of_val(&offsets[..]));
        let validity = self.validity.as_ref().map_or(0, |validity| validity.len());
        (self.values.len() + offsets + validity) as u64
    }

    /// `true` if the cell is not null.
    pub fn is_valid(&self, cell: usize) -> bool {
        self.validity.as_ref().is_none_or(|validity| validity.get(cell) != Some(&0))
    }

    /// Returns the cells at the given positions. `cells` is the number of cells of the column.
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

/// The result of a read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadResult {
    pub cells: usize,
    /// Columns in the order of the query's fields.
    pub columns: Vec<ReadColumn>,
    /// Number of submissions until the query was complete.
    pub submits: usize,
}

/// A column with its datatype.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadColumn {
    pub datatype: Datatype,
    /// Values per cell. `None` for a variable number.
    pub cell_val_num: Option<u32>,
    #[serde(flatten)]
    pub column: Column,
}

impl ReadColumn {
    /// Returns the number of cells.
    pub fn len(&self) -> usize {
        self.column.count(self.cell_size())
    }

    /// `true` if there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the size in bytes of a fixed-size cell.
    fn cell_size(&self) -> usize {
        (self.cell_val_num.unwrap_or(1) as usize * self.datatype.size()).max(1)
    }

    /// Returns the [cells of the column](Column::cells).
    pub fn cells(&self) -> Vec<&[u8]> {
        self.column.cells(self.cell_size())
    }

    /// Returns the bytes of each cell, and `None` for null cells.
    pub fn valid_cells(&self) -> Vec<Option<&[u8]>> {
        let cells = self.cells().into_iter().enumerate();
        cells.map(|(index, cell)| self.column.is_valid(index).then_some(cell)).collect()
    }
}
