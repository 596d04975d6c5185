//! Serialization of the attribute cells of a row.

use super::cells::Cells;
use super::column::Column;

impl Cells {
    /// Appends the bytes of a cell, without its coordinates.
    pub(super) fn record(&self, cell: usize, bytes: &mut Vec<u8>) {
        for field in self.fields.iter().filter(|field| !field.is_dimension) {
            field.column.record(cell, bytes);
        }
    }

    /// Appends a cell from the bytes of its attributes. The columns must have no dimensions.
    /// Returns `false` if the bytes are invalid.
    pub(super) fn take(&mut self, mut bytes: &[u8]) -> bool {
        for field in &mut self.fields {
            match field.column.take(bytes) {
                Some(rest) => bytes = rest,
                None => return false,
            }
        }
        self.len += 1;
        bytes.is_empty()
    }

    /// Removes the dimensions and all cells. Cells appended later have no coordinates.
    pub(super) fn without_dimensions(&mut self) {
        self.clear();
        self.fields.retain(|field| !field.is_dimension);
    }
}

impl Column {
    fn record(&self, cell: usize, bytes: &mut Vec<u8>) {
        let is_null = self.is_null(cell);
        if let Some(is_null) = is_null {
            bytes.push(u8::from(!is_null));
        }
        if is_null == Some(true) {
            return;
        }
        let values = self.cell(cell);
        if self.is_var() {
            bytes.extend_from_slice(&(values.len() as u64).to_le_bytes());
        }
        bytes.extend_from_slice(values);
    }

    /// Appends the cell at the start of `bytes`, and returns the remaining bytes.
    fn take<'a>(&mut self, mut bytes: &'a [u8]) -> Option<&'a [u8]> {
        if self.is_nullable() {
            let (valid, rest) = bytes.split_first()?;
            bytes = rest;
            if *valid == 0 {
                self.end_cell(true);
                return Some(bytes);
            }
        }
        let size = match self.cell_size {
            Some(size) => size,
            None => {
                let (size, rest) = bytes.split_first_chunk()?;
                bytes = rest;
                usize::try_from(u64::from_le_bytes(*size)).ok()?
            }
        };
        let (values, rest) = bytes.split_at_checked(size)?;
        self.values.extend_from_slice(values);
        self.end_cell(false);
        Some(rest)
    }
}
