//! What all writes of cells share: how to write, and what was written.

use tdb_schema::ArraySchema;
use tdb_snapshot::{ArrayError, Result};
use tdb_types::TimestampedName;

use crate::check::CheckedCells;
use crate::target::Target;
use crate::windows::Window;
use crate::{Names, SealedFragment};

/// What becomes of cells of equal coordinates in one write to a sparse array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Duplicates {
    /// They are an error, which names two of them.
    Refuse,
    /// The one that was given last stays.
    KeepLast,
    /// All stay, in the order in which they were given; the array's schema has to allow it.
    Keep,
}

/// How to write, apart from what.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) names: Names,
    pub(super) any_utf8: bool,
    pub(super) duplicates: Option<Duplicates>,
    pub(super) budget: usize,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The names of the new fragments; empty if there were no cells.
    pub fragments: Vec<TimestampedName>,
    /// How many cells they hold.
    pub cells: u64,
}

impl Settings {
    pub(super) fn duplicates(&self, schema: &ArraySchema) -> Result<Duplicates> {
        let default = if schema.allows_duplicates() { Duplicates::Keep } else { Duplicates::Refuse };
        match self.duplicates.unwrap_or(default) {
            Duplicates::Keep if !schema.allows_duplicates() => {
                let what = "cannot keep cells of equal coordinates: the array does not allow duplicates; keep the last, or refuse them";
                Err(ArrayError::Write(what.to_owned()))
            }
            duplicates => Ok(duplicates),
        }
    }

    pub(super) fn budget(&self) -> usize {
        self.budget
    }

    /// How many tiles of so many cells to have in memory at once.
    pub(super) fn window(&self, target: &Target, cells: &CheckedCells<'_>, tile_cells: usize) -> Window {
        let bytes: usize =
            cells.fields.iter().map(|field| field.cells.values().len()).sum::<usize>() / cells.len.max(1);
        // A tile is there twice, before and after the filters; or after them twice, in two windows.
        self.window_of(target, bytes.max(target.cell_size()).saturating_mul(2), tile_cells)
    }

    /// The same for cells that take so many bytes, with all that is there of them at once.
    pub(super) fn window_of(&self, target: &Target, cell_bytes: usize, tile_cells: usize) -> Window {
        Window::new(self.budget, cell_bytes.saturating_mul(tile_cells), target.array.workers().threads())
    }
}

/// Commits sealed fragments.
pub(super) fn commit(target: &Target, fragments: Vec<SealedFragment>, names: &Names, cells: u64) -> Result<Written> {
    Ok(Written { fragments: SealedFragment::commit_all(fragments, (names, target.environment()))?, cells })
}
