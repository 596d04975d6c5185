//! Files that hold whole columns, as cells for an array.

use std::path::PathBuf;

use tdb_array::NewCells;
use tdb_schema::{ArrayDefinition, Dimension, SchemaBuilder};
use tdb_types::{CellValNum, Datatype};

use crate::failure::Result;

/// Files to be read, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Import {
    /// The files, all of the same kind; at least one.
    pub paths: Vec<PathBuf>,
    /// About how many bytes of memory the reader may use.
    pub budget: usize,
    /// What some columns, by their names, are to be converted to.
    pub types: Vec<(String, Datatype)>,
}

impl Import {
    pub(crate) fn new(paths: Vec<PathBuf>, budget: usize, types: Vec<(String, Datatype)>) -> Self {
        Self { paths, budget, types }
    }
}

/// Files of columns, whose rows are read from the first to the last as often as is asked.
pub trait ColumnFiles {
    /// The columns that all of the files have.
    fn columns(&self) -> &[FileColumn];

    /// What the array was made from that the files were written from, if they say it.
    ///
    /// # Errors
    /// What they say can't be read.
    fn definition(&self) -> Result<Option<ArrayDefinition>>;

    /// What an array is made from whose dimensions are these, with all other columns as attributes.
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
