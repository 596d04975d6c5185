//! Settings and results shared by all writes of cells.

use tdb_schema::ArraySchema;
use tdb_snapshot::{ArrayError, Result};
use tdb_types::TimestampedName;

use crate::check::CheckedCells;
use crate::target::Target;
use crate::windows::Window;
use crate::{SealedFragment, WriteIds};

/// Handling of cells with equal coordinates within a write to a sparse array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Duplicates {
    /// Return an error that names two of the cells.
    Refuse,
    /// Keep the last of these cells.
    KeepLast,
    /// Keep all of these cells, in the given order. The schema must allow duplicates.
    Keep,
}

/// Settings of a write.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) names: WriteIds,
    pub(super) any_utf8: bool,
    pub(super) duplicates: Option<Duplicates>,
    pub(super) budget: usize,
}

/// The result of a write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Names of the new fragments. Empty if there were no cells.
    pub fragments: Vec<TimestampedName>,
    /// Number of cells in the new fragments.
    pub cells: u64,
}

impl Settings {
    pub(super) fn duplicates(&self, schema: &ArraySchema) -> Result<Duplicates> {
        let default = if schema.allows_duplicates() { Duplicates::Keep } else { Duplicates::Refuse };
        match self.duplicates.unwrap_or(default) {
            Duplicates::Keep if !schema.allows_duplicates() => {
                let what = "cannot keep cells of equal coordinates: the array does not allow duplicates; keep the last, or reject them";
                Err(ArrayError::Write(what.to_owned()))
            }
            duplicates => Ok(duplicates),
        }
    }

    /// Returns the number of tiles of `tile_cells` cells to hold in memory at once.
    pub(super) fn window(&self, target: &Target, cells: &CheckedCells<'_>, tile_cells: usize) -> Window {
        let bytes: usize =
            cells.fields.iter().map(|field| field.cells.values().len()).sum::<usize>() / cells.len.max(1);
        // Each tile counts twice: either its unfiltered and its filtered form are in memory, or the
        // filtered forms of two windows.
        self.window_of(target, bytes.max(target.cell_size()).saturating_mul(2), tile_cells)
    }

    /// Returns the same as [`window`](Self::window), for cells that take `cell_bytes` bytes of
    /// memory, filtered and unfiltered forms together.
    pub(super) fn window_of(&self, target: &Target, cell_bytes: usize, tile_cells: usize) -> Window {
        Window::new(self.budget, cell_bytes.saturating_mul(tile_cells), target.array.workers().threads())
    }
}

/// Commits sealed fragments, unless the write was cancelled.
pub(super) fn commit(target: &Target, fragments: Vec<SealedFragment>, names: &WriteIds, cells: u64) -> Result<Written> {
    target.array.workers().check()?;
    Ok(Written { fragments: SealedFragment::commit_all(fragments, (names, target.environment()))?, cells })
}
