//! A run of cells, column by column.

use std::ops::Range;
use std::slice;

use crate::{CellsError, Column, Result};

/// Some cells of a query's result, in its order: one [`Column`] for each selected field, all of the same length.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    columns: Vec<Column>,
    len: usize,
}

impl Batch {
    /// Columns of `len` cells each.
    #[must_use]
    pub fn new(columns: Vec<Column>, len: usize) -> Self {
        debug_assert!(columns.iter().all(|column| column.len() == len));
        Self { columns, len }
    }

    /// The first columns alone.
    pub fn with_columns(mut self, count: usize) -> Self {
        self.columns.truncate(count);
        self
    }

    /// How many cells there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The columns, in the order in which the query selected them.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of the field called `name`.
    ///
    /// # Errors
    /// [`CellsError::UnknownField`] if the query didn't select it.
    pub fn column(&self, name: &str) -> Result<&Column> {
        self.columns.iter().find(|column| column.name() == name).ok_or_else(|| CellsError::UnknownField {
            name: name.to_owned(),
            known: self.columns.iter().map(|column| column.name().to_owned()).collect(),
        })
    }

    /// Some of the cells, as a batch of their own that shares the values: see [`Column::slice`].
    ///
    /// # Panics
    /// If there are not so many cells.
    #[must_use]
    pub fn slice(&self, cells: Range<usize>) -> Self {
        let columns = self.columns.iter().map(|column| column.slice(cells.clone())).collect();
        Self { columns, len: cells.len() }
    }

    /// The cells of batches one after the other, which have the same columns; none of no batches.
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

    /// How many of the cells from `start` on take no more than `bytes` of memory, as a batch of their own: one at least.
    pub fn fitting(&self, start: usize, bytes: usize) -> usize {
        // A slice has an offset of its own, and bits that it begins within a byte.
        let own = self.columns.iter().map(|column| column.memory_before(0) + usize::from(column.validity().is_some()));
        let most = self.memory_before(start).saturating_add(bytes).saturating_sub(own.sum());
        let (mut low, mut high) = (start + 1, self.len);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.memory_before(middle) <= most { low = middle } else { high = middle - 1 }
        }
        low - start
    }

    /// Bytes of memory that the cells before this one take.
    pub fn memory_before(&self, cell: usize) -> usize {
        self.columns.iter().map(|column| column.memory_before(cell)).sum()
    }

    /// The columns themselves.
    #[must_use]
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// Bytes of memory that the cells take.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.columns.iter().map(Column::memory).sum()
    }
}

/// The columns, in the order in which the query selected them.
impl<'a> IntoIterator for &'a Batch {
    type Item = &'a Column;
    type IntoIter = slice::Iter<'a, Column>;

    fn into_iter(self) -> Self::IntoIter {
        self.columns.iter()
    }
}
