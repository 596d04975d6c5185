//! What a printer of cells does, whatever its format.

use std::io::Write;
use std::ops::Range;

use tdb_array::Batch;

use crate::failure::Result;

/// Prints batches in one format.
pub(crate) trait CellWriter {
    /// Prints some rows of a batch whose columns are the fields that the writer was made for.
    fn rows(&mut self, batch: &Batch, rows: Range<usize>, out: &mut dyn Write) -> Result<()>;

    /// Prints what follows the last row.
    fn finish(&mut self, out: &mut dyn Write) -> Result<()>;
}
