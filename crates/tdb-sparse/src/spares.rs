//! Memory of tiles for reuse.

use tdb_cells::order::coordinates::Coordinates;
use tdb_cells::order::key::KeyPools;
use tdb_cells::{CellBuffers, Pool};
use tdb_types::Buffer;

use crate::held::Held;

/// Unused tile buffers, shared by all threads of a read. Fresh memory is slow to touch.
#[derive(Debug, Default)]
pub(crate) struct Spares {
    buffers: Pool<Buffer>,
    pub(super) keys: KeyPools,
    var: Pool<CellBuffers>,
}

impl Spares {
    /// Creates pools that keep up to `most` bytes of each kind of buffer.
    pub(super) fn of(most: usize) -> Self {
        Self { buffers: Pool::of(most), keys: KeyPools::of(most), var: Pool::of(most) }
    }

    /// Returns a buffer of `len` bytes with unspecified content.
    pub(super) fn buffer(&self, len: usize) -> Buffer {
        let mut buffer = self.buffers.take();
        buffer.resize(len);
        buffer
    }

    /// Returns an empty vector.
    pub(super) fn keys(&self) -> Vec<u64> {
        let mut keys = self.keys.narrow.take();
        keys.clear();
        keys
    }

    /// Returns buffers for a variable-length tile, with unspecified content.
    pub(super) fn var(&self) -> CellBuffers {
        self.var.take()
    }

    pub(super) fn give(&self, buffer: Buffer) {
        self.buffers.give(buffer);
    }

    /// Returns the memory of coordinates to the pools.
    pub(super) fn give_coordinates(&self, coordinates: Coordinates) {
        match coordinates {
            Coordinates::Keys(keys) => self.keys.narrow.give(keys),
            Coordinates::Strings(strings) => self.var.give(strings),
        }
    }

    /// Returns the memory of unused cells to the pools.
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
