//! The fields of a fragment that are read, and their tiles.

use std::sync::Arc;

use tdb_cells::{CellBuffers, TileScratch};
use tdb_snapshot::tiles::FieldTiles;
use tdb_snapshot::{ArrayError, Result};
use tdb_types::saturating_len;

/// A field that is read.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) tiles: Arc<FieldTiles>,
    /// Bytes of a cell, unless cells differ in length.
    pub(super) size: Option<usize>,
    /// Whether the new fragment has it, or it is read for the sake of conditions alone.
    pub(super) is_kept: bool,
    /// Whether it decides where cells go, or whether they stay: other fields are read when that is known.
    pub(super) is_first: bool,
}

/// The fields that are read, each once.
#[derive(Debug, Default)]
pub(super) struct Fields(pub(super) Vec<Field>);

impl Fields {
    /// The place of a field that the new fragment has.
    pub(super) fn kept(&mut self, tiles: Arc<FieldTiles>, size: Option<usize>) -> usize {
        let place = self.place(tiles, size);
        self.0[place].is_kept = true;
        place
    }

    /// The place of a field that has to be known before others are read.
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
    /// About how many bytes of memory a tile of so many cells takes.
    pub(super) fn memory(&self, tile: u64, cells: usize) -> usize {
        let values = match self.size {
            Some(size) => cells.saturating_mul(size),
            None => saturating_len(self.tiles.var_size(tile)).saturating_add(cells.saturating_mul(8)),
        };
        values.saturating_add(if self.tiles.validity.is_some() { cells } else { 0 })
    }

    /// Unfilters a tile of so many cells.
    pub(super) fn load(&self, tile: u64, cells: usize, scratch: &mut TileScratch) -> Result<CellBuffers> {
        let mut buffers = CellBuffers::default();
        match self.size {
            None => self.tiles.var(tile, cells, &mut buffers, scratch)?,
            Some(size) => {
                let len = cells.checked_mul(size).filter(|len| *len as u64 <= self.tiles.tile_limit);
                let len = len.ok_or_else(|| ArrayError::Unsupported {
                    file: self.tiles.fixed.path.clone(),
                    what: format!(
                        "tile {tile} of {cells} cells of {size} bytes is above the limit; raise `tile_bytes`"
                    ),
                })?;
                buffers.values.resize(len);
                self.tiles.fixed(tile, &mut buffers.values, scratch)?;
            }
        }
        if self.tiles.validity.is_some() {
            buffers.validity.resize(cells);
            self.tiles.validity(tile, &mut buffers.validity, scratch)?;
        }
        Ok(buffers)
    }
}
