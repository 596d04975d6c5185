//! Batches with a requested number of cells.

use tdb_cells::Batch;

/// A converter of batches of any size to a requested number of cells. Larger batches are sliced
/// without copying values. Smaller batches are concatenated by copying.
#[derive(Debug)]
pub(super) struct Chunks {
    /// The number of cells in a batch, up to the limit in bytes.
    cells: usize,
    /// The maximum size of a batch in bytes.
    bytes: usize,
    /// The first pieces of the next batch, with total length and memory.
    pieces: Vec<Batch>,
    len: usize,
    memory: usize,
    /// A partly consumed input batch, and the index of the first remaining cell.
    rest: Option<(Batch, usize)>,
}

impl Chunks {
    pub(super) fn new(cells: usize, bytes: usize) -> Self {
        Self { cells: cells.max(1), bytes, pieces: Vec::new(), len: 0, memory: 0, rest: None }
    }

    /// Adds a batch. The previous batch must be consumed, with [`next`](Self::next) returning
    /// `None`.
    pub(super) fn push(&mut self, batch: Batch) {
        self.rest = Some((batch, 0));
    }

    /// Returns the next batch. Returns `None` if further cells are needed.
    pub(super) fn next(&mut self) -> Option<Batch> {
        let (batch, given) = self.rest.take()?;
        let left = batch.len() - given;
        let room = self.bytes.saturating_sub(self.memory);
        let mut taken = left.min(self.cells - self.len);
        if taken > 0 {
            taken = taken.min(batch.fitting(given, room));
            let whole = taken == batch.len();
            let piece = if whole { batch.clone() } else { batch.slice(given..given + taken) };
            let memory = piece.memory();
            // A batch always has room for the first cell, even above the limit.
            if self.len > 0 && memory > room {
                taken = 0;
            } else {
                self.pieces.push(piece);
                (self.len, self.memory) = (self.len + taken, self.memory.saturating_add(memory));
            }
        }
        if taken < left {
            self.rest = Some((batch, given + taken));
            return self.finish();
        }
        if self.len == self.cells { self.finish() } else { None }
    }

    /// Concatenates and removes the pieces. Returns `None` if there are no pieces.
    pub(super) fn finish(&mut self) -> Option<Batch> {
        let pieces = std::mem::take(&mut self.pieces);
        (self.len, self.memory) = (0, 0);
        Batch::joined(pieces)
    }
}
