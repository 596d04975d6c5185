//! Interface to files of columns.

use std::path::PathBuf;

use tdb_exchange::{ColumnBatch, Error, FileColumn};
use tdb_schema::{ArrayDefinition, Dimension, SchemaBuilder};
use tdb_types::Datatype;

use crate::failure::{Failure, Result};

/// Files to import, with options.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Import {
    /// The files, at least one, all of the same format.
    pub paths: Vec<PathBuf>,
    /// Approximate memory limit of the reader in bytes.
    pub budget: usize,
    /// Target types of columns, by name.
    pub types: Vec<(String, Datatype)>,
}

impl Import {
    pub(crate) fn new(paths: Vec<PathBuf>, budget: usize, types: Vec<(String, Datatype)>) -> Self {
        Self { paths, budget, types }
    }
}

/// Files of columns, which can be read in several passes.
pub trait ColumnFiles {
    /// Returns the columns that all files share.
    fn columns(&self) -> &[FileColumn];

    /// Returns the definition of the array that was exported to the files, or `None` if the files
    /// do not store it.
    ///
    /// # Errors
    /// Fails if the definition cannot be read.
    fn definition(&self) -> Result<Option<ArrayDefinition>>;

    /// Creates the definition of an array with these dimensions and all remaining columns as
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

/// An adapter to [`tdb_exchange::ColumnFiles`]. A [`Failure`] passes through the errors of the
/// import unchanged.
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
