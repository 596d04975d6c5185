//! Cells as they come: batch by batch, never all at once.

mod csv;
mod json;
mod table;
mod writer;

use super::RowFormat;
use crate::cells::Field;
use crate::failure::{Failure, Result};
use crate::terminal::Terminal;
pub(crate) use writer::CellWriter;

/// Returns a writer for rows of some fields. `null` is the text of a null cell in CSV, by default empty.
///
/// # Errors
/// `null` for a format other than CSV.
pub(crate) fn cell_writer(
    format: RowFormat,
    fields: Vec<Field>,
    null: Option<&str>,
    terminal: Terminal,
) -> Result<Box<dyn CellWriter>> {
    if null.is_some() && format != RowFormat::Csv {
        let failure = Failure::usage("null: applies to CSV only");
        return Err(failure.with_hint("leave out null, or choose CSV"));
    }
    Ok(match format {
        RowFormat::Table => Box::new(table::TableWriter::new(fields, terminal)),
        RowFormat::Json => Box::new(json::JsonWriter::array(fields)),
        RowFormat::Jsonl => Box::new(json::JsonWriter::lines(fields)),
        RowFormat::Csv => Box::new(csv::CsvWriter::new(fields, null.unwrap_or_default())),
    })
}
