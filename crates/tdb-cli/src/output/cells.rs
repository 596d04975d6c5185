//! Cells as they come: batch by batch, never all at once.

mod csv;
mod json;
mod table;
mod writer;

use super::RowFormat;
use crate::cells::Field;
use crate::terminal::Terminal;
pub(crate) use writer::CellWriter;

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
