//! Intermediate form of the cells of one field, between a column and an Arrow array.

use arrow_buffer::NullBuffer;
use tdb_array::tdb_types::{Datatype, SharedBuffer};

use crate::{Error, Problem};

/// Cells of one field.
pub(super) struct Cells<'a> {
    /// Name of the field, for errors.
    pub(super) name: &'a str,
    pub(super) datatype: Datatype,
    pub(super) values: SharedBuffer,
    /// Counted in values.
    pub(super) offsets: Option<SharedBuffer>,
    pub(super) nulls: Option<NullBuffer>,
}

impl Cells<'_> {
    /// Creates an error about a cell.
    pub(super) fn error(&self, cell: usize, problem: Problem) -> Error {
        Error::Cell { field: self.name.to_owned(), cell, problem }
    }
}
