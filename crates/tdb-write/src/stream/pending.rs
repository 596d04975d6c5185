//! Cells that wait for a complete tile.

use std::ops::Range;

use tdb_cells::{CellBuffers, TileScratch};
use tdb_snapshot::Result;
use tdb_types::Cells;

use crate::encoder::{EncodedTile, FieldEncoder, Run};

/// The waiting cells of a field, in the memory layout of tiles.
#[derive(Debug, Default)]
pub(super) struct Pending {
    cells: CellBuffers,
    len: usize,
}

impl Pending {
    /// Appends cells.
    pub(super) fn push(&mut self, field: &FieldEncoder, cells: &Cells<'_>) {
        self.cells.push(cells, field.nullable);
        self.len += cells.len();
    }

    /// Appends the cells with the indices in `some`.
    pub(super) fn push_some(&mut self, field: &FieldEncoder, cells: &Cells<'_>, some: &[u32]) {
        self.cells.push_some(cells, some, field.nullable);
        self.len += some.len();
    }

    /// Removes the last cell.
    pub(super) fn pop(&mut self, field: &FieldEncoder) {
        let Some(len) = self.len.checked_sub(1) else { return };
        self.cells.truncate(len, field.size);
        self.len = len;
    }

    /// Encodes the cells in `run` as a tile.
    pub(super) fn encode(
        &self,
        field: &FieldEncoder,
        run: Range<usize>,
        scratch: &mut TileScratch,
    ) -> Result<EncodedTile> {
        let len = run.len();
        field.encode(&self.cells.cells(field.size).slice(run), Run::whole(len), scratch)
    }

    /// Removes the first `count` cells.
    pub(super) fn drop_front(&mut self, field: &FieldEncoder, count: usize) {
        self.cells.drop_front(count, field.size);
        self.len -= count;
    }

    /// Returns the bytes of all cells.
    pub(super) fn memory(&self) -> usize {
        self.cells.len_in_bytes()
    }
}
