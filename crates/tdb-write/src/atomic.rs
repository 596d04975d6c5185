//! A write of several fragments that become visible atomically.

use std::ops::RangeInclusive;
use std::sync::Arc;

use tdb_cells::{Coordinate, WriteBatch, range_on};
use tdb_rtree::NdRange;
use tdb_snapshot::{ArrayError, Result};
use tdb_types::Layout;

use crate::target::Target;
use crate::{SealedFragment, Settings, Written, commit, dense, sparse};

/// A write of several fragments, created by [`Write::atomic`](super::Write::atomic). Each batch of
/// sparse cells, in any order, becomes a fragment, and so does each dense box. The writer holds one
/// batch in memory at a time.
///
/// No cell becomes visible before [`commit`](Self::commit). A writer that is dropped earlier
/// removes its files. All fragments have the same timestamp. If several batches contain cells with
/// equal coordinates, readers see the cell of the last batch, or all cells if the array allows
/// duplicates.
#[derive(Debug)]
pub struct AtomicWriter {
    target: Arc<Target>,
    settings: Settings,
    sealed: Vec<SealedFragment>,
    /// Number of given cells.
    received: u64,
    /// Number of kept cells.
    kept: u64,
    /// `true` after an error. The writer then accepts no more cells.
    failed: bool,
}

impl AtomicWriter {
    pub(super) fn new(target: Arc<Target>, mut settings: Settings) -> Result<Self> {
        if !settings.names.is_fixed() {
            settings.names = settings.names.at(target.environment().now()?);
        }
        Ok(Self { target, settings, sealed: Vec::new(), received: 0, kept: 0, failed: false })
    }

    /// Writes the next cells of a sparse array as an uncommitted fragment. An empty batch creates
    /// no fragment.
    ///
    /// # Errors
    /// The array is dense, the columns or cells do not fit the array, the storage fails, or an
    /// earlier call failed. Error messages number the cells across all batches. After an error, the
    /// writer accepts no more cells and cannot be committed.
    pub fn push<'a>(&mut self, cells: impl Into<WriteBatch<'a>>) -> Result<()> {
        self.begin()?;
        if self.target.schema.is_dense() {
            let what = "cells of a dense array are written as whole boxes".to_owned();
            return Err(ArrayError::Write(what));
        }
        if let Some(new) = sparse::seal(&self.target, &self.settings, &cells.into(), self.received)? {
            self.sealed.push(new.fragment);
            self.received += new.given;
            self.kept += new.kept;
        }
        self.failed = false;
        Ok(())
    }

    /// Writes the cells of a box of a dense array, in row-major order, as an uncommitted fragment.
    /// `ranges` holds a range per dimension, in dimension order.
    ///
    /// # Errors
    /// The array is sparse, the number of ranges differs from the number of dimensions, the box is
    /// not within the domain, the number of cells does not match the box, the columns or cells do
    /// not fit the array, the storage fails, or an earlier call failed. After an error, the writer
    /// accepts no more cells and cannot be committed.
    pub fn push_box<'a, C: Into<Coordinate> + Clone>(
        &mut self,
        ranges: impl IntoIterator<Item = RangeInclusive<C>>,
        cells: impl Into<WriteBatch<'a>>,
    ) -> Result<()> {
        self.begin()?;
        let region = self.region(ranges)?;
        let (fragment, count) =
            dense::seal(&self.target, &self.settings, region, Layout::RowMajor, &cells.into(), self.received)?;
        self.sealed.push(fragment);
        self.received += count;
        self.kept += count;
        self.failed = false;
        Ok(())
    }

    /// Marks the write as failed until the operation completes.
    fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.failed, true) {
            return Err(ArrayError::Write("the write has already failed; start a new write".to_owned()));
        }
        Ok(())
    }

    fn region<C: Into<Coordinate> + Clone>(
        &self,
        ranges: impl IntoIterator<Item = RangeInclusive<C>>,
    ) -> Result<NdRange> {
        let schema = &self.target.schema;
        if !schema.is_dense() {
            return Err(ArrayError::Write("a sparse array takes coordinates, not a box".to_owned()));
        }
        let ranges: Vec<RangeInclusive<C>> = ranges.into_iter().collect();
        if ranges.len() != schema.dim_count() {
            let what =
                format!("found a box of {} ranges, expected {}, one per dimension", ranges.len(), schema.dim_count());
            return Err(ArrayError::Write(what));
        }
        let sides = schema.dimensions().iter().zip(&ranges);
        let sides = sides.map(|(dimension, range)| Ok(range_on(schema, dimension.name(), range)?.1));
        Ok(NdRange(sides.collect::<Result<_>>()?))
    }

    /// Returns the number of fragments so far.
    #[must_use]
    pub fn fragments(&self) -> usize {
        self.sealed.len()
    }

    /// Commits all fragments atomically. Before format 12, fragments are committed one by one.
    /// After a crash, only the first fragments may be committed.
    ///
    /// # Errors
    /// The storage fails, the clock or random bytes are not available, or an earlier call failed.
    /// No cell is then committed, except for the first fragments before format 12.
    pub fn commit(self) -> Result<Written> {
        if self.failed {
            return Err(ArrayError::Write("the write has already failed; nothing was committed".to_owned()));
        }
        if self.sealed.is_empty() {
            return Ok(Written::default());
        }
        commit(&self.target, self.sealed, &self.settings.names, self.kept)
    }
}
