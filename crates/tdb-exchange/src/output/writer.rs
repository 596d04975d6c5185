//! Writers of cells, whatever their format.

use std::io::{self, Write};
use std::ops::Range;

use tdb_array::Batch;

/// A writer of batches in one format.
pub trait CellWriter {
    /// Writes some rows of a batch whose columns are the fields that the writer was made for.
    ///
    /// # Errors
    /// `out` can't be written.
    fn rows(&mut self, batch: &Batch, rows: Range<usize>, out: &mut dyn Write) -> io::Result<()>;

    /// Writes what follows the last row.
    ///
    /// # Errors
    /// `out` can't be written.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()>;
}
