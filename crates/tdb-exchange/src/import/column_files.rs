//! Files that hold whole columns, as cells for an array.

use std::fmt::Debug;

use tdb_array::NewCells;
use tdb_schema::{ArrayDefinition, Dimension, SchemaBuilder};
use tdb_types::{CellValNum, Datatype};

use crate::error::Result;

/// Files of columns, whose rows are read from the first to the last as often as is asked.
pub trait ColumnFiles {
    /// The columns that all of the files have.
    fn columns(&self) -> &[FileColumn];

    /// The definition of the array that the files were written from, if they have it.
    ///
    /// # Errors
    /// The definition can't be read.
    fn definition(&self) -> Result<Option<ArrayDefinition>>;

    /// The definition of an array with these dimensions, and all other columns as attributes.
    ///
    /// # Errors
    /// An array can't hold one of the columns; the files can't be read.
    fn new_array(&self, builder: SchemaBuilder, dimensions: Vec<Dimension>) -> Result<ArrayDefinition>;

    /// Hands all rows on, as cells of the fields of that array that are among the columns, or of some of them.
    ///
    /// # Errors
    /// What `each` gives; a column doesn't fit its field; the files can't be read.
    fn walk(
        &self,
        definition: &ArrayDefinition,
        fields: &[String],
        each: &mut dyn FnMut(ColumnBatch<'_>) -> Result<()>,
    ) -> Result<()>;

    /// How many bytes the files have, and how many of them the walk has passed.
    fn progress(&self) -> (u64, u64);
}

impl Debug for dyn ColumnFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColumnFiles").field("columns", &self.columns()).finish_non_exhaustive()
    }
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileColumn {
    /// Its name.
    pub name: String,
    /// What an array holds its cells as; none if no array can.
    pub kind: Option<(Datatype, CellValNum)>,
}

/// Rows that follow one another in a file.
#[derive(Clone, Debug)]
pub struct ColumnBatch<'a> {
    /// Which file it is, counted from 0.
    pub file: usize,
    /// The number of the first row, counted from 0 in each file.
    pub first: u64,
    /// How many rows there are, with those that were rejected.
    pub rows: usize,
    /// The cells of those rows that weren't rejected.
    pub cells: NewCells<'a>,
    /// Rows that the array can't hold, counted from 0 in this batch, in ascending order; and why it can't.
    pub rejected: Vec<(usize, String)>,
}
