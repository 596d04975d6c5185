//! Output of query results, batch by batch.

use std::io::{self, Write};
use std::ops::Range;

use tdb_array::Batch;
use tdb_exchange::{CellWriter, CsvWriter, Field, JsonWriter};

use crate::RowFormat;
use crate::pages::{PAGE, Pages};
use crate::terminal::Terminal;

/// The error if a text for null cells is given for a format other than CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the option null applies to CSV only")]
pub struct NullError;

/// Creates a writer for rows with these fields. `null` is the text of a null cell in CSV. It
/// defaults to an empty text.
///
/// # Errors
/// Fails if `null` is given for a format other than CSV.
pub fn cell_writer(
    format: RowFormat,
    fields: Vec<Field>,
    null: Option<&str>,
    terminal: Terminal,
) -> Result<Box<dyn CellWriter>, NullError> {
    if null.is_some() && format != RowFormat::Csv {
        return Err(NullError);
    }
    Ok(match format {
        RowFormat::Table => Box::new(TableWriter::new(fields, terminal)),
        RowFormat::Json => Box::new(JsonWriter::array(fields)),
        RowFormat::Jsonl => Box::new(JsonWriter::lines(fields)),
        RowFormat::Csv => Box::new(CsvWriter::new(fields, null.unwrap_or_default())),
    })
}

/// A paged table with one line per row.
struct TableWriter {
    fields: Vec<Field>,
    pages: Pages,
}

impl TableWriter {
    fn new(fields: Vec<Field>, terminal: Terminal) -> Self {
        let columns = fields.iter().map(|field| (field.name().to_owned(), field.is_numeric())).collect();
        Self { fields, pages: Pages::new(columns, terminal) }
    }

    fn page(&mut self, batch: &Batch, rows: Range<usize>, out: &mut dyn Write) -> io::Result<()> {
        let columns = || self.fields.iter().zip(batch.columns());
        let rows = rows.map(|row| columns().map(move |(field, column)| field.text(column, row)));
        self.pages.page(rows, out)
    }
}

impl CellWriter for TableWriter {
    fn rows(&mut self, batch: &Batch, rows: Range<usize>, out: &mut dyn Write) -> io::Result<()> {
        let mut start = rows.start;
        while start < rows.end {
            let end = rows.end.min(start + PAGE);
            self.page(batch, start..end, out)?;
            start = end;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !self.pages.has_begun() {
            writeln!(out, "no cells")?;
        }
        Ok(())
    }
}
