//! Several fragments that become part of an array at once.

use std::sync::Arc;

use super::target::Target;
use super::{NewCells, SealedFragment, Settings, Written, commit, sparse};
use crate::{ArrayError, Result};

/// A write of a sparse array in several fragments, made by [`Write::together`](super::Write::together): batches of cells in any order
/// in, a fragment for each out. No more is held in memory than one batch takes, however much is written.
///
/// Nothing becomes visible before [`commit`](Self::commit), and nothing at all if this is dropped before. All fragments carry the same
/// time. Of cells with the same coordinates in different batches, the one that was given last counts, or all in arrays that allow it.
#[derive(Debug)]
pub struct TogetherWriter {
    target: Arc<Target>,
    settings: Settings,
    sealed: Vec<SealedFragment>,
    /// Cells that were given.
    received: u64,
    /// Cells that stay.
    kept: u64,
    /// After an error nothing more is taken.
    failed: bool,
}

impl TogetherWriter {
    pub(super) fn new(target: Arc<Target>, mut settings: Settings) -> Result<Self> {
        if target.schema.is_dense() {
            let what = "the cells of a dense array are written as boxes, each as a whole".to_owned();
            return Err(ArrayError::Write(what));
        }
        if !settings.names.is_fixed() {
            settings.names = settings.names.at(target.environment().now()?);
        }
        Ok(Self { target, settings, sealed: Vec::new(), received: 0, kept: 0, failed: false })
    }

    /// Writes the next cells, as a fragment that nobody sees yet. Of no cells there is none.
    ///
    /// # Errors
    /// Columns or cells that the array can't have; cells are counted from the first batch on. Whatever the storage can't do. After an
    /// error nothing more is taken, and nothing is committed.
    pub fn push<'a>(&mut self, cells: impl Into<NewCells<'a>>) -> Result<()> {
        if self.failed {
            return Err(ArrayError::Write("the write has failed before; begin a new one".to_owned()));
        }
        self.failed = true;
        if let Some(new) = sparse::seal(&self.target, &self.settings, &cells.into(), self.received)? {
            self.sealed.push(new.fragment);
            self.received += new.given;
            self.kept += new.kept;
        }
        self.failed = false;
        Ok(())
    }

    /// How many fragments there are so far.
    #[must_use]
    pub fn fragments(&self) -> usize {
        self.sealed.len()
    }

    /// Makes all of it part of the array at once. In arrays of formats before 12, whose fragments are committed one by one, a crash may
    /// leave only the first of them.
    ///
    /// # Errors
    /// Whatever the storage can't do; an earlier error. Nothing is then committed.
    pub fn commit(self) -> Result<Written> {
        if self.failed {
            return Err(ArrayError::Write("the write has failed before; nothing is committed".to_owned()));
        }
        if self.sealed.is_empty() {
            return Ok(Written::default());
        }
        commit(&self.target, self.sealed, &self.settings.names, self.kept)
    }
}
