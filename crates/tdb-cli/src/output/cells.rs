//! Cells as they come: batch by batch, never all at once.

mod csv;
mod json;
mod table;

use std::io::Write;
use std::ops::Range;

use tdb_array::Batch;

use super::RowFormat;
use crate::cells::Field;
use crate::failure::Result;
use crate::terminal::Terminal;

/// Prints batches in one format.
pub(crate) trait CellWriter {
    /// Prints some rows of a batch whose columns are the fields that the writer was made for.
    fn rows(&mut self, batch: &Batch, rows: Range<usize>, out: &mut dyn Write) -> Result<()>;

    /// Prints what follows the last row.
    fn finish(&mut self, out: &mut dyn Write) -> Result<()>;
}

/// A writer for rows of these fields. `null` is what CSV shows for a null cell.
pub(crate) fn cell_writer(
    format: RowFormat,
    fields: Vec<Field>,
    null: &str,
    terminal: Terminal,
) -> Box<dyn CellWriter> {
    match format {
        RowFormat::Table => Box::new(table::TableWriter::new(fields, terminal)),
        RowFormat::Json => Box::new(json::JsonWriter::array(fields)),
        RowFormat::Jsonl => Box::new(json::JsonWriter::lines(fields)),
        RowFormat::Csv => Box::new(csv::CsvWriter::new(fields, null)),
    }
}
