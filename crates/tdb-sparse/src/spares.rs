//! Memory of tiles that is used again.

use tdb_cells::order::coordinates::Coordinates;
use tdb_cells::order::key::KeyPools;
use tdb_cells::{CellBuffers, Pool};
use tdb_types::Buffer;

use crate::held::Held;

/// Memory of tiles that nobody wants any more, for all threads of a read: fresh memory is slow to touch.
#[derive(Debug, Default)]
pub(crate) struct Spares {
    buffers: Pool<Buffer>,
    pub(super) keys: KeyPools,
    var: Pool<CellBuffers>,
}

impl Spares {
    /// Of each kind so many bytes are kept at most.
    pub(super) fn of(most: usize) -> Self {
        Self { buffers: Pool::of(most), keys: KeyPools::of(most), var: Pool::of(most) }
    }

    /// A buffer of `len` bytes, which hold anything.
    pub(super) fn buffer(&self, len: usize) -> Buffer {
        let mut buffer = self.buffers.take();
        buffer.resize(len);
        buffer
    }

    /// An empty vector.
    pub(super) fn keys(&self) -> Vec<u64> {
        let mut keys = self.keys.narrow.take();
        keys.clear();
        keys
    }

    /// An empty tile, or one that is to be overwritten.
    pub(super) fn var(&self) -> CellBuffers {
        self.var.take()
    }

    pub(super) fn give(&self, buffer: Buffer) {
        self.buffers.give(buffer);
    }

    /// Takes the memory of coordinates.
    pub(super) fn give_coordinates(&self, coordinates: Coordinates) {
        match coordinates {
            Coordinates::Keys(keys) => self.keys.narrow.give(keys),
            Coordinates::Strings(strings) => self.var.give(strings),
        }
    }

    /// Takes the memory of cells that nobody wants any more.
    pub(super) fn take_back(&self, held: &mut Held) {
        let Held { mut cells, .. } = std::mem::take(held);
        if !cells.validity.is_empty() {
            self.buffers.give(std::mem::take(&mut cells.validity));
        }
        if !cells.offsets.is_empty() {
            self.var.give(cells);
        } else if !cells.values.is_empty() {
            self.buffers.give(cells.values);
        }
    }
}
