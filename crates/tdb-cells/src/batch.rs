//! Batches of cells, column by column.

use std::ops::Range;
use std::slice;

use crate::{CellsError, Column, Result};

/// Cells of a query's result, in result order: a [`Column`] for each selected field, all of the
/// same length.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    columns: Vec<Column>,
    len: usize,
}

impl Batch {
    /// Creates a batch of columns with `len` cells each.
    #[must_use]
    pub fn new(columns: Vec<Column>, len: usize) -> Self {
        debug_assert!(columns.iter().all(|column| column.len() == len));
        Self { columns, len }
    }

    /// Keeps only the first `count` columns.
    pub fn with_columns(mut self, count: usize) -> Self {
        self.columns.truncate(count);
        self
    }

    /// Returns the number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the columns, in the order of selection by the query.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the column of the field called `name`.
    ///
    /// # Errors
    /// [`CellsError::UnknownColumn`] if the query did not select the field.
    pub fn column(&self, name: &str) -> Result<&Column> {
        self.columns.iter().find(|column| column.name() == name).ok_or_else(|| CellsError::UnknownColumn {
            name: name.to_owned(),
            known: self.columns.iter().map(|column| column.name().to_owned()).collect(),
        })
    }

    /// Returns a range of cells as a batch with shared values. See [`Column::slice`].
    ///
    /// # Panics
    /// If the range is reversed or exceeds the number of cells, unless the batch has no columns.
    #[must_use]
    pub fn slice(&self, cells: Range<usize>) -> Self {
        let columns = self.columns.iter().map(|column| column.slice(cells.clone())).collect();
        Self { columns, len: cells.len() }
    }

    /// Concatenates batches with the same columns. Returns `None` if `batches` is empty.
    pub fn joined(batches: Vec<Self>) -> Option<Self> {
        let (first, others) = batches.split_first()?;
        if others.is_empty() {
            return batches.into_iter().next();
        }
        let column = |(place, column): (usize, &Column)| {
            let others: Vec<&Column> = others.iter().map(|batch| &batch.columns[place]).collect();
            column.followed_by(&others)
        };
        let columns = first.columns.iter().enumerate().map(column).collect();
        Some(Self { columns, len: batches.iter().map(Self::len).sum() })
    }

    /// Returns the number of cells, counted from `start`, that fit into `bytes` of memory as a
    /// separate batch. Returns at least 1.
    pub fn fitting(&self, start: usize, bytes: usize) -> usize {
        // A slice has an additional first offset, and may begin within a byte of the validity
        // bitmap.
        let own = self.columns.iter().map(|column| column.memory_before(0) + usize::from(column.validity().is_some()));
        let most = self.memory_before(start).saturating_add(bytes).saturating_sub(own.sum());
        let (mut low, mut high) = (start + 1, self.len);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.memory_before(middle) <= most { low = middle } else { high = middle - 1 }
        }
        low - start
    }

    /// Returns the memory of all cells before `cell`, in bytes. Includes the offset at the end of
    /// these cells.
    pub fn memory_before(&self, cell: usize) -> usize {
        self.columns.iter().map(|column| column.memory_before(cell)).sum()
    }

    /// Returns the columns.
    #[must_use]
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// Returns the memory of the cells, in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.columns.iter().map(Column::memory).sum()
    }
}

/// Iterates over the columns, in the order of selection by the query.
impl<'a> IntoIterator for &'a Batch {
    type Item = &'a Column;
    type IntoIter = slice::Iter<'a, Column>;

    fn into_iter(self) -> Self::IntoIter {
        self.columns.iter()
    }
}
