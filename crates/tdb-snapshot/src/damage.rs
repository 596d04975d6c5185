//! Damaged parts of an array.

use tdb_storage::Storage;

use crate::{ArrayError, Result};

/// An unreadable part of an array, with the error.
#[derive(Debug)]
pub struct Damaged {
    /// The path of the part below the array's folder: a fragment folder, a schema, or a list of
    /// commits or fragments.
    pub path: String,
    /// The reason.
    pub error: ArrayError,
}

/// The recorded damage. In strict mode, the first damaged part is an error.
#[derive(Debug)]
pub(crate) struct Findings {
    skip: bool,
    damaged: Vec<Damaged>,
}

impl Findings {
    /// Creates findings in strict mode.
    pub(crate) fn strict() -> Self {
        Self { skip: false, damaged: Vec::new() }
    }

    /// Creates findings. With `skip`, damage is recorded. Otherwise damage is an error.
    pub(crate) fn new(skip: bool) -> Self {
        Self { skip, ..Self::strict() }
    }

    /// Returns the value, or `None` if the part is damaged and skipped.
    pub(crate) fn of<T>(&mut self, path: &str, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.note(path, error).map(|()| None),
        }
    }

    /// Records an error, or returns it in strict mode.
    pub(crate) fn note(&mut self, path: &str, error: ArrayError) -> Result<()> {
        if !self.skip {
            return Err(error);
        }
        self.damaged.push(Damaged { path: path.to_owned(), error });
        Ok(())
    }

    /// Replaces paths below the array's folder in recorded errors by full paths. A listing does not
    /// contain full paths.
    pub(crate) fn locate(&mut self, storage: &dyn Storage) {
        let damaged = std::mem::take(&mut self.damaged).into_iter();
        self.damaged = damaged.map(|Damaged { path, error }| Damaged { path, error: error.located(storage) }).collect();
    }

    pub(crate) fn into_damaged(self) -> Vec<Damaged> {
        self.damaged
    }
}
