//! Files that hold whole columns, as cells for an array.

use std::path::PathBuf;

use tdb_exchange::{ColumnBatch, Error, FileColumn};
use tdb_schema::{ArrayDefinition, Dimension, SchemaBuilder};
use tdb_types::Datatype;

use crate::failure::{Failure, Result};

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

/// Files of columns as an import takes them. A [`Failure`] passes through its errors unchanged.
pub(crate) struct Columns(pub(crate) Box<dyn ColumnFiles>);

impl tdb_exchange::ColumnFiles for Columns {
    fn columns(&self) -> &[FileColumn] {
        self.0.columns()
    }

    fn definition(&self) -> Result<Option<ArrayDefinition>, Error> {
        self.0.definition().map_err(carried)
    }

    fn new_array(&self, builder: SchemaBuilder, dimensions: Vec<Dimension>) -> Result<ArrayDefinition, Error> {
        self.0.new_array(builder, dimensions).map_err(carried)
    }

    fn walk(
        &self,
        definition: &ArrayDefinition,
        fields: &[String],
        each: &mut dyn FnMut(ColumnBatch<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.0.walk(definition, fields, &mut |batch| Ok(each(batch)?)).map_err(carried)
    }

    fn progress(&self) -> (u64, u64) {
        self.0.progress()
    }
}

fn carried(failure: Failure) -> Error {
    Error::Columns(Box::new(failure))
}
