//! Memory of tiles that is used again.

use tdb_filters::Scratch;
use tdb_types::{Buffer, Limits};

/// Memory that a worker reuses from tile to tile.
#[derive(Debug, Default)]
pub(crate) struct TileScratch {
    /// For the filters.
    pub(crate) filters: Scratch,
    /// Bytes of a tile as they lie in the file.
    pub(crate) filtered: Vec<u8>,
    /// Bytes of a tile or of some chunks of it, unfiltered.
    pub(crate) tile: Buffer,
    /// A tile of cells of variable length.
    pub(crate) var: VarTile,
    /// Which cells of a tile are wanted.
    pub(crate) mask: Vec<bool>,
    /// A tile to be filtered.
    pub(crate) raw: RawTile,
}

impl TileScratch {
    /// Empty, for filters that keep to the limits.
    pub(crate) fn with_limits(limits: Limits) -> Self {
        Self { filters: Scratch::with_limits(limits), ..Self::default() }
    }
}

/// An unfiltered tile of cells of variable length.
#[derive(Clone, Debug, Default)]
pub(crate) struct VarTile {
    /// Where each cell begins in `data`, in bytes, and at last where the last one ends; ascending.
    pub(crate) offsets: Vec<u64>,
    /// The bytes of all cells.
    pub(crate) data: Buffer,
}

impl VarTile {
    /// The bytes of one cell.
    #[inline]
    pub(crate) fn cell(&self, cell: usize) -> &[u8] {
        // Checked when the tile was loaded: offsets ascend and end at the length of the data.
        &self.data[self.offsets[cell] as usize..self.offsets[cell + 1] as usize]
    }

    /// Copies some of the cells, which take the place of whatever `to` holds.
    pub(crate) fn copy_cells(&self, cells: &[u32], to: &mut Self) {
        to.offsets.clear();
        to.offsets.push(0);
        to.data.resize(0);
        for cell in cells {
            to.data.extend_from_slice(self.cell(*cell as usize));
            to.offsets.push(to.data.len() as u64);
        }
    }
}

/// A tile before its filters, in memory that is used again.
#[derive(Debug, Default)]
pub(crate) struct RawTile {
    pub(crate) values: Vec<u8>,
    /// Where each cell begins, in bytes; empty if all have the same size.
    pub(crate) offsets: Vec<u64>,
    /// One byte per cell, 0 where it is null; empty if the field has no nulls.
    pub(crate) validity: Vec<u8>,
}

impl RawTile {
    pub(crate) fn clear(&mut self) {
        self.clear_but(false);
    }

    /// Makes the tile empty; but values that will be overwritten may stay.
    pub(crate) fn clear_but(&mut self, values_stay: bool) {
        if !values_stay {
            self.values.clear();
        }
        self.offsets.clear();
        self.validity.clear();
    }
}
