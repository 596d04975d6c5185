//! The input of a merge, and the loading of its tiles.

use std::collections::BTreeSet;

use tdb_cells::Cancelled;
use tdb_cells::order::key::Key;
use tdb_snapshot::{ArrayError, Snapshot};

use super::slice::Slice;
use super::source::Source;
use super::tile::{Loaded, Rules};

/// A reason to stop a merge.
#[derive(Debug)]
pub(super) enum Stop {
    Error(ArrayError),
    /// The cells of this source are not in the expected order. The merge must start again and sort
    /// the tiles of the source.
    OutOfOrder(usize),
    /// The source has cells with equal coordinates that are not versions of one cell, although the
    /// array does not allow duplicates.
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

/// Selection among cells with equal coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    /// `true` to keep only the newest cell.
    pub(super) newest: bool,
    /// Drop cells that were deleted up to this time, and all older cells with the same coordinates.
    pub(super) purge: Option<u64>,
}

/// The input of a merge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a> {
    pub(super) array: &'a Snapshot,
    pub(super) sources: &'a [Source],
    pub(super) rules: Rules<'a>,
    pub(super) keep: Keep,
    /// Indices of the sources whose cells are not in order. Their tiles are opened slice by slice,
    /// and sorted.
    pub(super) unordered: &'a BTreeSet<usize>,
    /// Memory limit in bytes for open tiles of unordered sources.
    pub(super) memory: usize,
}

impl Input<'_> {
    /// Loads a tile. For an unordered source, keeps only the cells within the slice.
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

    /// Returns `true` if the cells of a source are in order. Reads only the fields that determine
    /// the order.
    pub(super) fn is_in_order<K: Key>(&self, source: usize) -> Result<bool, ArrayError> {
        let mut before: Option<Loaded<K>> = None;
        for tile in 0..self.sources[source].tile_count() {
            let next = match self.load(source, tile, Slice::all()) {
                Ok(next) => next,
                Err(Stop::OutOfOrder(_)) => return Ok(false),
                Err(Stop::Error(error)) => return Err(error),
                // Only a merge returns this variant.
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
