//! Cells between a column and an array.

use arrow_buffer::NullBuffer;
use tdb_array::tdb_types::{Datatype, SharedBuffer};

use crate::{Error, Problem};

/// The cells of a column on their way.
pub(super) struct Cells<'a> {
    /// The field, for errors.
    pub(super) name: &'a str,
    pub(super) datatype: Datatype,
    pub(super) values: SharedBuffer,
    /// In values.
    pub(super) offsets: Option<SharedBuffer>,
    pub(super) nulls: Option<NullBuffer>,
}

impl Cells<'_> {
    /// An error about one of them.
    pub(super) fn error(&self, cell: usize, problem: Problem) -> Error {
        Error::Cell { field: self.name.to_owned(), cell, problem }
    }
}
