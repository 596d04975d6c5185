//! Memory of unfiltered tiles that is used again.

use tdb_types::Buffer;

use crate::read::sparse::cells::TileData;
use crate::read::sparse::table::Held;
use crate::tiles::VarTile;

/// Memory of tiles that were gathered from: fresh memory is slow to touch.
#[derive(Debug, Default)]
pub(super) struct Spares {
    buffers: Vec<Buffer>,
    var: Vec<VarTile>,
}

impl Spares {
    /// A buffer of `len` bytes, which hold anything.
    pub(super) fn buffer(&mut self, len: usize) -> Buffer {
        let mut buffer = self.buffers.pop().unwrap_or_default();
        buffer.resize(len);
        buffer
    }

    /// An empty tile, or one that is to be overwritten.
    pub(super) fn var(&mut self) -> VarTile {
        self.var.pop().unwrap_or_default()
    }

    pub(super) fn give(&mut self, buffer: Buffer) {
        self.buffers.push(buffer);
    }

    /// Takes the memory of cells that nobody wants any more.
    pub(super) fn take_back(&mut self, held: &mut Held) {
        match held.cells.take() {
            Some(TileData::Fixed(buffer)) => self.buffers.push(buffer),
            Some(TileData::Var(tile)) => self.var.push(tile),
            None => {}
        }
        self.buffers.extend(held.validity.take());
    }
}
