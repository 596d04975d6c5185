//! Errors before tile context is added.

use tdb_cells::Cancelled;
use tdb_filters::FilterError;

use crate::ArrayError;

/// An error before tile context is added.
pub(super) enum Trouble {
    Array(ArrayError),
    Filter(FilterError),
}

impl From<ArrayError> for Trouble {
    fn from(error: ArrayError) -> Self {
        Self::Array(error)
    }
}

impl From<Cancelled> for Trouble {
    fn from(cancelled: Cancelled) -> Self {
        Self::Array(cancelled.into())
    }
}

impl From<tdb_storage::StorageError> for Trouble {
    fn from(error: tdb_storage::StorageError) -> Self {
        Self::Array(error.into())
    }
}

impl From<FilterError> for Trouble {
    fn from(error: FilterError) -> Self {
        Self::Filter(error)
    }
}

#[cold]
pub(super) fn wrong_size(what: &'static str, expected: u64, found: u64) -> Trouble {
    Trouble::Filter(FilterError::WrongSize { what, expected, found })
}
