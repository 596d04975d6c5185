//! The common interface of cell writers.

use std::io::{self, Write};
use std::ops::Range;

use tdb_array::Batch;

/// A writer of batches in one format.
pub trait CellWriter {
    /// Writes some rows of a batch. The columns of the batch must correspond to the fields of the
    /// writer.
    ///
    /// # Errors
    /// Fails if `out` cannot be written.
    fn rows(&mut self, batch: &Batch, rows: Range<usize>, out: &mut dyn Write) -> io::Result<()>;

    /// Writes the end of the output after the last row.
    ///
    /// # Errors
    /// Fails if `out` cannot be written.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()>;
}
