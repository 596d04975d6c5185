//! The measurements of one side.

use tdb_reference::model::Bytes;
use tdb_reference::{TimedRead, TimedReads};

/// The measurements of one side with a number of threads.
#[derive(Clone, Debug, Default)]
pub struct Side {
    pub cells: usize,
    pub bytes: u64,
    pub digest: Bytes,
    pub runs: Vec<TimedRead>,
    pub peak_memory: u64,
}

impl Side {
    /// Adds the measurements of another round.
    pub fn add(&mut self, timed: TimedReads) {
        (self.cells, self.bytes) = (timed.cells, timed.bytes);
        if !timed.digest.is_empty() {
            self.digest = timed.digest;
        }
        self.runs.extend(timed.reads);
        self.peak_memory = self.peak_memory.max(timed.peak_memory);
    }
}
