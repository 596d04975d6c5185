//! What of an array could not be read, where the caller wants the rest all the same.

use tdb_storage::Storage;

use crate::{ArrayError, Result};

/// A part of an array that was left out because it can't be read.
#[derive(Debug)]
pub struct Damaged {
    /// The path of the part below the array's folder: a fragment's folder, a schema, a file that names others.
    pub path: String,
    /// Why.
    pub error: ArrayError,
}

/// What was found damaged so far; strict ones end at the first finding.
#[derive(Debug)]
pub(crate) struct Findings {
    skip: bool,
    damaged: Vec<Damaged>,
}

impl Findings {
    /// Findings that are errors.
    pub(crate) fn strict() -> Self {
        Self { skip: false, damaged: Vec::new() }
    }

    /// Findings that are noted if `skip` says so, else errors.
    pub(crate) fn new(skip: bool) -> Self {
        Self { skip, ..Self::strict() }
    }

    /// The value; none if it is to be left out.
    pub(crate) fn of<T>(&mut self, path: &str, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.note(path, error).map(|()| None),
        }
    }

    /// Notes an error, or gives it back.
    pub(crate) fn note(&mut self, path: &str, error: ArrayError) -> Result<()> {
        if !self.skip {
            return Err(error);
        }
        self.damaged.push(Damaged { path: path.to_owned(), error });
        Ok(())
    }

    /// Replaces relative paths in recorded errors by full ones: a listing knows names only.
    pub(crate) fn locate(&mut self, storage: &dyn Storage) {
        let damaged = std::mem::take(&mut self.damaged).into_iter();
        self.damaged = damaged.map(|Damaged { path, error }| Damaged { path, error: error.located(storage) }).collect();
    }

    pub(crate) fn into_damaged(self) -> Vec<Damaged> {
        self.damaged
    }
}
