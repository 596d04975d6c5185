//! The fields of a fragment that are read.

use std::sync::Arc;

use tdb_cells::{CellBuffers, TileScratch};
use tdb_snapshot::Result;
use tdb_snapshot::tiles::FieldTiles;
use tdb_types::saturating_len;

/// A field to read.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) tiles: Arc<FieldTiles>,
    /// Bytes per cell. `None` for variable length.
    pub(super) size: Option<usize>,
    /// `true` if the new fragment stores the field. Otherwise only the order or conditions need the
    /// field.
    pub(super) is_kept: bool,
    /// `true` if the field determines the order or the deletion of cells. These fields are read
    /// first.
    pub(super) is_first: bool,
}

/// The fields to read, without repetitions.
#[derive(Debug, Default)]
pub(super) struct Fields(pub(super) Vec<Field>);

impl Fields {
    /// Adds a field that the new fragment stores, unless it is known. Returns the index.
    pub(super) fn kept(&mut self, tiles: Arc<FieldTiles>, size: Option<usize>) -> usize {
        let place = self.place(tiles, size);
        self.0[place].is_kept = true;
        place
    }

    /// Adds a field that must be read first, unless it is known. Returns the index.
    pub(super) fn first(&mut self, tiles: Arc<FieldTiles>, size: Option<usize>) -> usize {
        let place = self.place(tiles, size);
        self.0[place].is_first = true;
        place
    }

    fn place(&mut self, tiles: Arc<FieldTiles>, size: Option<usize>) -> usize {
        if let Some(known) = self.0.iter().position(|field| Arc::ptr_eq(&field.tiles, &tiles)) {
            return known;
        }
        self.0.push(Field { tiles, size, is_kept: false, is_first: false });
        self.0.len() - 1
    }
}

impl Field {
    /// Estimates the memory of a tile with this number of cells, in bytes.
    pub(super) fn memory(&self, tile: u64, cells: usize) -> usize {
        let values = match self.size {
            Some(size) => cells.saturating_mul(size),
            None => saturating_len(self.tiles.var_size(tile)).saturating_add(cells.saturating_mul(8)),
        };
        values.saturating_add(if self.tiles.validity.is_some() { cells } else { 0 })
    }

    /// Unfilters a tile with this number of cells.
    pub(super) fn load(&self, tile: u64, cells: usize, scratch: &mut TileScratch) -> Result<CellBuffers> {
        self.tiles.cells(tile, cells, self.size, scratch)
    }
}
