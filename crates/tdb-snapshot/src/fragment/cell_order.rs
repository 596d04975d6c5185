//! Checks of stored cells for global order.

use tdb_cells::order::ascending::AscendingCheck;
use tdb_cells::order::by_writers::may_differ;
use tdb_schema::hilbert::CoordinateColumn;
use tdb_types::{Cells, Feature};

use super::Fragment;
use crate::Result;

/// A check that cells are in the global order of an array. Equal coordinates may repeat only if the
/// array allows duplicates, or if the fragment has a timestamp per cell.
#[derive(Clone, Debug)]
pub struct CellOrderCheck {
    check: AscendingCheck,
    /// The same check with equal coordinates allowed.
    with_equal: AscendingCheck,
    is_promised: bool,
}

impl Fragment {
    /// Returns the check for the cells of the fragment.
    ///
    /// # Errors
    /// The Hilbert order does not support the number of dimensions.
    pub fn order_check(&self) -> Result<CellOrderCheck> {
        let (schema, version) = (self.schema(), self.version());
        let distinct = !schema.allows_duplicates() && !self.has_cell_times();
        let loose = self.has_cell_times() && version.has(Feature::UnorderedVersions);
        Ok(CellOrderCheck {
            check: AscendingCheck::new(schema, distinct)?,
            with_equal: AscendingCheck::new(schema, false)?,
            is_promised: !may_differ(schema, version) && !loose,
        })
    }
}

impl CellOrderCheck {
    /// Returns `true` if writers of the fragment's format guarantee this order. Writers of several
    /// old formats used another order, or did not order cells with equal coordinates.
    #[must_use]
    pub fn is_promised(&self) -> bool {
        self.is_promised
    }

    /// Returns `true` if the cells are in order. `coordinates` has a column for each dimension.
    #[must_use]
    pub fn holds(&self, coordinates: &[Cells<'_>]) -> bool {
        holds(&self.check, coordinates)
    }

    /// Returns the same as [`holds`](Self::holds), but always allows equal coordinates.
    #[must_use]
    pub fn holds_with_equal(&self, coordinates: &[Cells<'_>]) -> bool {
        holds(&self.with_equal, coordinates)
    }
}

fn holds(check: &AscendingCheck, coordinates: &[Cells<'_>]) -> bool {
    let cells = coordinates.iter().map(Cells::len).min().unwrap_or(0);
    let columns: Vec<CoordinateColumn<'_>> = coordinates.iter().map(|cells| column(cells)).collect();
    check.holds(&columns, 0..cells)
}

fn column<'a>(cells: &Cells<'a>) -> CoordinateColumn<'a> {
    match cells.offsets().and_then(|offsets| offsets.as_in_tile()) {
        Some(offsets) => {
            CoordinateColumn::Strings { offsets: &offsets[..offsets.len().saturating_sub(1)], values: cells.values() }
        }
        None => CoordinateColumn::Values(cells.values()),
    }
}
