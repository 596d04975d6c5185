//! The cells of one field, in columnar form.

use tdb_array::WriteColumn;
use tdb_types::{CellValNum, Datatype};

/// A growing column.
#[derive(Debug)]
pub(super) struct Column {
    /// Bytes per value.
    value_size: usize,
    /// Bytes per cell, or `None` if cells are of variable length.
    pub(super) cell_size: Option<usize>,
    pub(super) values: Vec<u8>,
    /// Offsets of variable-length cells, counted in values.
    offsets: Option<Vec<u64>>,
    /// One validity byte per cell of a nullable field.
    valid: Option<Vec<u8>>,
}

impl Column {
    /// Creates a column for cells with `number` values of a type.
    pub(super) fn new(datatype: Datatype, number: CellValNum, nullable: bool) -> Self {
        let value_size = datatype.size();
        let cell_size = number.fixed().map(|number| number as usize * value_size);
        let offsets = cell_size.is_none().then(|| vec![0]);
        Self { value_size, cell_size, values: Vec::new(), offsets, valid: nullable.then(Vec::new) }
    }

    /// Returns `true` if cells are of variable length.
    pub(super) fn is_var(&self) -> bool {
        self.cell_size.is_none()
    }

    pub(super) fn is_nullable(&self) -> bool {
        self.valid.is_some()
    }

    /// Returns whether a cell is null, or `None` if the field is not nullable.
    pub(super) fn is_null(&self, cell: usize) -> Option<bool> {
        self.valid.as_ref().map(|valid| valid[cell] == 0)
    }

    /// Returns the bytes of memory of the cells.
    pub(super) fn bytes(&self) -> usize {
        let offsets = self.offsets.as_ref().map_or(0, |offsets| 8 * offsets.len());
        self.values.len() + offsets + self.valid.as_ref().map_or(0, Vec::len)
    }

    pub(super) fn cell(&self, cell: usize) -> &[u8] {
        &self.values[self.end(cell)..self.end(cell + 1)]
    }

    /// Ends a cell whose values were appended to `values`. Fills a null cell of fixed length with
    /// zeros.
    pub(super) fn end_cell(&mut self, is_null: bool) {
        if is_null {
            self.values.resize(self.values.len() + self.cell_size.unwrap_or(0), 0);
        }
        if let Some(offsets) = &mut self.offsets {
            offsets.push((self.values.len() / self.value_size) as u64);
        }
        if let Some(valid) = &mut self.valid {
            valid.push(u8::from(!is_null));
        }
    }

    /// Appends all given cells.
    pub(super) fn extend(&mut self, given: &Given<'_>) {
        let Some(column) = given.column else {
            return (0..given.len).for_each(|_| self.end_cell(true));
        };
        let bytes = given.bytes(0..given.len);
        self.values.extend_from_slice(bytes);
        if let (Some(ends), Some(offsets)) = (&mut self.offsets, column.offsets()) {
            let base = ends.last().copied().unwrap_or(0);
            let first = offsets.first().copied().unwrap_or(0);
            ends.extend(offsets.iter().skip(1).map(|offset| offset - first + base));
        }
        if let Some(valid) = &mut self.valid {
            valid.extend((0..given.len).map(|cell| u8::from(!given.is_null(cell))));
        }
    }

    /// Appends one of the given cells.
    pub(super) fn push(&mut self, given: &Given<'_>, cell: usize) {
        let is_null = given.is_null(cell);
        if !is_null {
            self.values.extend_from_slice(given.bytes(cell..cell + 1));
        }
        self.end_cell(is_null);
    }

    /// Appends a cell with these bytes.
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        self.values.extend_from_slice(bytes);
        self.end_cell(false);
    }

    /// Removes all cells from `len` on, and any unfinished cell.
    pub(super) fn truncate(&mut self, len: usize) {
        let end = self.end(len);
        if let Some(offsets) = &mut self.offsets {
            offsets.truncate(len + 1);
        }
        self.values.truncate(end);
        if let Some(valid) = &mut self.valid {
            valid.truncate(len);
        }
    }

    pub(super) fn remove_first(&mut self, count: usize) {
        self.values.drain(..self.end(count));
        if let Some(offsets) = &mut self.offsets {
            offsets.drain(..count);
            let first = offsets.first().copied().unwrap_or(0);
            offsets.iter_mut().for_each(|offset| *offset -= first);
        }
        if let Some(valid) = &mut self.valid {
            valid.drain(..count);
        }
    }

    /// Returns the number of bytes of the first `count` cells.
    fn end(&self, count: usize) -> usize {
        match (&self.offsets, self.cell_size) {
            (Some(offsets), _) => offsets.get(count).map_or(0, |end| *end as usize) * self.value_size,
            (None, size) => count * size.unwrap_or(0),
        }
    }

    /// Returns the first `count` cells as a column to write, or the cells in `order` if given.
    pub(super) fn new_column(&self, count: usize, order: Option<&[usize]>) -> WriteColumn<'_> {
        let column = match order {
            None => {
                let column = WriteColumn::bytes(&self.values[..self.end(count)]);
                match &self.offsets {
                    Some(offsets) => column.with_offsets(&offsets[..=count]),
                    None => column,
                }
            }
            Some(order) => self.in_order(order),
        };
        match &self.valid {
            None => column,
            Some(valid) => column.with_validity(match order {
                None => bits(valid[..count].iter().copied()),
                Some(order) => bits(order.iter().map(|cell| valid[*cell])),
            }),
        }
    }

    fn in_order(&self, order: &[usize]) -> WriteColumn<'_> {
        let (mut values, mut offsets) = (Vec::with_capacity(self.values.len()), self.offsets.as_ref().map(|_| vec![0]));
        for cell in order {
            values.extend_from_slice(self.cell(*cell));
            if let Some(offsets) = &mut offsets {
                offsets.push((values.len() / self.value_size) as u64);
            }
        }
        WriteColumn::owned(values, offsets, None)
    }
}

/// Packs bytes of 0 and 1 into bits, least significant bit first.
fn bits(bytes: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut bits = Vec::with_capacity(bytes.size_hint().0.div_ceil(8));
    for (index, byte) in bytes.enumerate() {
        if index.is_multiple_of(8) {
            bits.push(0);
        }
        if let Some(last) = bits.last_mut() {
            *last |= byte << (index % 8);
        }
    }
    bits
}

/// Cells of a field from a file of columns. If the file lacks the column, all cells are null.
#[derive(Debug)]
pub(super) struct Given<'a> {
    /// `None` if the file lacks the column.
    pub(super) column: Option<&'a WriteColumn<'a>>,
    pub(super) len: usize,
    value_size: usize,
    cell_size: Option<usize>,
}

impl<'a> Given<'a> {
    /// Interprets `given` as `len` cells for `column`. Returns `None` if the lengths in `given` do
    /// not match.
    pub(super) fn new(given: Option<&'a WriteColumn<'a>>, len: usize, column: &Column) -> Option<Self> {
        let (value_size, cell_size) = (column.value_size, column.cell_size);
        let fits = given.is_none_or(|given| {
            let bytes = given.as_bytes().len();
            let cells = match (cell_size, given.offsets()) {
                (Some(size), None) => len.checked_mul(size) == Some(bytes),
                (None, Some(offsets)) => {
                    let end = offsets.last().and_then(|end| end.checked_mul(value_size as u64));
                    offsets.len() == len + 1 && offsets.is_sorted() && end.is_some_and(|end| end <= bytes as u64)
                }
                _ => false,
            };
            cells && given.validity().is_none_or(|bits| bits.len() >= len.div_ceil(8))
        });
        fits.then_some(Self { column: given, len, value_size, cell_size })
    }

    pub(super) fn is_null(&self, cell: usize) -> bool {
        let Some(column) = self.column else { return true };
        column.validity().is_some_and(|bits| bits[cell / 8] >> (cell % 8) & 1 == 0)
    }

    /// Returns `true` if cells may be null.
    pub(super) fn has_nulls(&self) -> bool {
        self.column.is_none_or(|column| column.validity().is_some())
    }

    pub(super) fn bytes(&self, cells: std::ops::Range<usize>) -> &[u8] {
        let Some(column) = self.column else { return &[] };
        let at = |cell: usize| match column.offsets() {
            Some(offsets) => offsets[cell] as usize * self.value_size,
            None => cell * self.cell_size.unwrap_or(0),
        };
        &column.as_bytes()[at(cells.start)..at(cells.end)]
    }
}
