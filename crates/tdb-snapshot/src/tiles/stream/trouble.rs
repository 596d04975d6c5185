//! Errors before tile context is added.

use tdb_cells::Cancelled;
use tdb_filters::FilterError;

use crate::ArrayError;

/// An error before tile context is added.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error(transparent)]
    Array(#[from] ArrayError),
    #[error(transparent)]
    Filter(#[from] FilterError),
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

#[cold]
pub(super) fn wrong_size(what: &'static str, expected: u64, found: u64) -> Trouble {
    Trouble::Filter(FilterError::WrongSize { what, expected, found })
}
