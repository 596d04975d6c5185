//! Batches of a number of cells that the caller has chosen.

use tdb_cells::Batch;

/// Makes batches of as many cells as the caller wants out of others, whatever these have: where one has more it is cut, which
/// copies no values, and where it has fewer, the next ones are put behind it, which does.
#[derive(Debug)]
pub(super) struct Chunks {
    /// How many cells a batch has, unless they take too many bytes.
    cells: usize,
    /// Bytes that it may take.
    bytes: usize,
    /// What the next batch begins with, and how much that is.
    pieces: Vec<Batch>,
    len: usize,
    memory: usize,
    /// What is left of a batch that was taken, from one of its cells on.
    rest: Option<(Batch, usize)>,
}

impl Chunks {
    pub(super) fn new(cells: usize, bytes: usize) -> Self {
        Self { cells: cells.max(1), bytes, pieces: Vec::new(), len: 0, memory: 0, rest: None }
    }

    /// Takes a batch; nothing must be left of the one before: [`next`](Self::next) gives none.
    pub(super) fn push(&mut self, batch: Batch) {
        self.rest = Some((batch, 0));
    }

    /// The next batch; none if it takes more cells.
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
            // One cell always has room, but not behind others.
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

    /// What there is, though it has fewer cells; none if there is nothing.
    pub(super) fn finish(&mut self) -> Option<Batch> {
        let pieces = std::mem::take(&mut self.pieces);
        (self.len, self.memory) = (0, 0);
        Batch::joined(pieces)
    }
}
