//! Several fragments that become part of an array at once.

use std::ops::RangeInclusive;
use std::sync::Arc;

use tdb_cells::{Coordinate, NewCells, range_on};
use tdb_rtree::NdRange;
use tdb_snapshot::{ArrayError, Result};
use tdb_types::Layout;

use crate::target::Target;
use crate::{SealedFragment, Settings, Written, commit, dense, sparse};

/// A write in several fragments, made by [`Write::together`](super::Write::together): of a sparse array batches of cells in any order in, of
/// a dense one boxes; a fragment for each out. No more is held in memory than one batch takes, however much is written.
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
        if !settings.names.is_fixed() {
            settings.names = settings.names.at(target.environment().now()?);
        }
        Ok(Self { target, settings, sealed: Vec::new(), received: 0, kept: 0, failed: false })
    }

    /// Writes the next cells of a sparse array, as a fragment that nobody sees yet. Of no cells there is none.
    ///
    /// # Errors
    /// The array is dense; columns or cells that the array can't have; cells are counted from the first batch on. Whatever the storage can't
    /// do. After an error nothing more is taken, and nothing is committed.
    pub fn push<'a>(&mut self, cells: impl Into<NewCells<'a>>) -> Result<()> {
        self.begin()?;
        if self.target.schema.is_dense() {
            let what = "the cells of a dense array are written as boxes, each as a whole".to_owned();
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

    /// Writes the cells of a box of a dense array, row by row, as a fragment that nobody sees yet. The box has a range for each dimension,
    /// in their order.
    ///
    /// # Errors
    /// The array is sparse; the box isn't within its domain; not as many cells as the box has, or cells that the array can't have.
    /// Whatever the storage can't do. After an error nothing more is taken, and nothing is committed.
    pub fn push_box<'a, C: Into<Coordinate> + Clone>(
        &mut self,
        ranges: impl IntoIterator<Item = RangeInclusive<C>>,
        cells: impl Into<NewCells<'a>>,
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

    /// Until what begins here has come to its end, the write has failed.
    fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.failed, true) {
            return Err(ArrayError::Write("the write has failed before; begin a new one".to_owned()));
        }
        Ok(())
    }

    fn region<C: Into<Coordinate> + Clone>(
        &self,
        ranges: impl IntoIterator<Item = RangeInclusive<C>>,
    ) -> Result<NdRange> {
        let schema = &self.target.schema;
        if !schema.is_dense() {
            return Err(ArrayError::Write("cells of a sparse array have coordinates, and no box".to_owned()));
        }
        let ranges: Vec<RangeInclusive<C>> = ranges.into_iter().collect();
        if ranges.len() != schema.dim_count() {
            let what = format!("a box of {} ranges, for an array of {} dimensions", ranges.len(), schema.dim_count());
            return Err(ArrayError::Write(what));
        }
        let sides = schema.dimensions().iter().zip(&ranges);
        let sides = sides.map(|(dimension, range)| Ok(range_on(schema, dimension.name(), range)?.1));
        Ok(NdRange(sides.collect::<Result<_>>()?))
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
