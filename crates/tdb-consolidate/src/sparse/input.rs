//! What is merged, and how its tiles are loaded.

use std::collections::BTreeSet;

use tdb_cells::Cancelled;
use tdb_cells::order::key::Key;
use tdb_snapshot::{ArrayError, Snapshot};

use super::slice::Slice;
use super::source::Source;
use super::tile::{Loaded, Rules};

/// Why a merge can't go on.
#[derive(Debug)]
pub(super) enum Stop {
    Error(ArrayError),
    /// The cells of this source aren't in the order that it was thought to have: it is to be sorted, from the start.
    OutOfOrder(usize),
    /// Cells of this source have equal coordinates although none is a version of another, and the array doesn't allow that.
    Repeated(usize),
}

impl From<Cancelled> for Stop {
    fn from(cancelled: Cancelled) -> Self {
        Self::Error(cancelled.into())
    }
}

impl From<ArrayError> for Stop {
    fn from(error: ArrayError) -> Self {
        Self::Error(error)
    }
}

/// Which cells of equal coordinates stay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    /// The newest one alone.
    pub(super) newest: bool,
    /// None that was deleted until then, and no older one.
    pub(super) purge: Option<u64>,
}

/// What is merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a> {
    pub(super) array: &'a Snapshot,
    pub(super) sources: &'a [Source],
    pub(super) rules: Rules<'a>,
    pub(super) keep: Keep,
    /// Sources whose tiles are sorted, and opened wherever their cells begin.
    pub(super) unordered: &'a BTreeSet<usize>,
    /// About how many bytes those of their tiles may take together that are open.
    pub(super) memory: usize,
}

impl Input<'_> {
    /// A tile; of an unordered source the cells that lie in a slice.
    pub(super) fn load<K: Key>(&self, source: usize, tile: u64, slice: Slice<K>) -> Result<Loaded<K>, Stop> {
        let Self { array, sources, rules, unordered, .. } = *self;
        array.workers().check()?;
        let is_unordered = unordered.contains(&source);
        let columns = sources[source].load(array, tile, is_unordered)?;
        if is_unordered {
            return Ok(Loaded::sorted(rules, source, tile, columns, |key| slice.contains(key)));
        }
        Loaded::in_order(rules, source, tile, columns).ok_or(Stop::OutOfOrder(source))
    }

    /// Whether the cells of a source are in order, from the first to the last; of each tile only what decides that is read.
    pub(super) fn is_in_order<K: Key>(&self, source: usize) -> Result<bool, ArrayError> {
        let mut before: Option<Loaded<K>> = None;
        for tile in 0..self.sources[source].tile_count() {
            let next = match self.load(source, tile, Slice::all()) {
                Ok(next) => next,
                Err(Stop::OutOfOrder(_)) => return Ok(false),
                Err(Stop::Error(error)) => return Err(error),
                // Only a merge stops so.
                Err(Stop::Repeated(_)) => return Ok(false),
            };
            if before.is_some_and(|before| !next.is_behind(self.rules, &before)) {
                return Ok(false);
            }
            before = Some(next);
        }
        Ok(true)
    }
}
