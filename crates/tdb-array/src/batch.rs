//! A run of cells, column by column.

use crate::{ArrayError, Column, Result};

/// Some cells of a query's result, in its order: one [`Column`] for each selected field, all of the same length.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    columns: Vec<Column>,
    len: usize,
}

impl Batch {
    pub(crate) fn new(columns: Vec<Column>, len: usize) -> Self {
        debug_assert!(columns.iter().all(|column| column.len() == len));
        Self { columns, len }
    }

    /// The first columns alone.
    pub(crate) fn with_columns(mut self, count: usize) -> Self {
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
    /// [`ArrayError::UnknownField`] if the query didn't select it.
    pub fn column(&self, name: &str) -> Result<&Column> {
        self.columns.iter().find(|column| column.name() == name).ok_or_else(|| ArrayError::UnknownField {
            name: name.to_owned(),
            known: self.columns.iter().map(|column| column.name().to_owned()).collect(),
        })
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
