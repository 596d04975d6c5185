//! Interface to files that hold complete columns.

use std::fmt::Debug;

use tdb_array::WriteBatch;
use tdb_schema::{ArrayDefinition, Dimension, SchemaBuilder};
use tdb_types::{CellValNum, Datatype};

use crate::error::Result;

/// Files of columns, which can be read several times.
pub trait ColumnFiles {
    /// Returns the columns that all files share.
    fn columns(&self) -> &[FileColumn];

    /// Returns the definition of the array that was exported to the files, or `None` if the files
    /// do not store it.
    ///
    /// # Errors
    /// Fails if the definition cannot be read.
    fn definition(&self) -> Result<Option<ArrayDefinition>>;

    /// Returns the definition of an array with these dimensions, and with all other columns as
    /// attributes.
    ///
    /// # Errors
    /// Fails if an array cannot hold one of the columns, or if the files cannot be read.
    fn new_array(&self, builder: SchemaBuilder, dimensions: Vec<Dimension>) -> Result<ArrayDefinition>;

    /// Passes all rows to `each`, as cells of the named fields of the array.
    ///
    /// # Errors
    /// Fails if `each` fails, if a column does not fit its field, or if the files cannot be read.
    fn walk(
        &self,
        definition: &ArrayDefinition,
        fields: &[String],
        each: &mut dyn FnMut(ColumnBatch<'_>) -> Result<()>,
    ) -> Result<()>;

    /// Returns the size of the files and the position of the walk, in bytes.
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
    /// The name.
    pub name: String,
    /// The type of the field that holds the column, or `None` if an array cannot hold the column.
    pub kind: Option<(Datatype, CellValNum)>,
}

/// Consecutive rows of a file.
#[derive(Clone, Debug)]
pub struct ColumnBatch<'a> {
    /// Index of the file, from 0.
    pub file: usize,
    /// Index of the first row, from 0 in each file.
    pub first: u64,
    /// Number of rows, including rejected rows.
    pub rows: usize,
    /// The cells of all rows except for the rejected rows.
    pub cells: WriteBatch<'a>,
    /// Rows that the array cannot hold, with the reason, in ascending order. Rows are numbered from
    /// 0 in this batch.
    pub rejected: Vec<(usize, String)>,
}
