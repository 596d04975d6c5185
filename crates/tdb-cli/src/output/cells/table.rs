//! Cells as a table, in pages.

use std::io::Write;
use std::ops::Range;

use tdb_array::Batch;

use super::writer::CellWriter;
use crate::cells::Field;
use crate::failure::Result;
use crate::output::pages::{PAGE, Pages};
use crate::terminal::Terminal;

/// Writes a header and one line per row.
pub(super) struct TableWriter {
    fields: Vec<Field>,
    pages: Pages,
}

impl TableWriter {
    pub(super) fn new(fields: Vec<Field>, terminal: Terminal) -> Self {
        let columns = fields.iter().map(|field| (field.name().to_owned(), field.is_numeric())).collect();
        Self { fields, pages: Pages::new(columns, terminal) }
    }

    fn page(&mut self, batch: &Batch, rows: Range<usize>, out: &mut dyn Write) -> Result<()> {
        let columns = || self.fields.iter().zip(batch.columns());
        let rows = rows.map(|row| columns().map(move |(field, column)| field.text(column, row)));
        Ok(self.pages.page(rows, out)?)
    }
}

impl CellWriter for TableWriter {
    fn rows(&mut self, batch: &Batch, rows: Range<usize>, out: &mut dyn Write) -> Result<()> {
        let mut start = rows.start;
        while start < rows.end {
            let end = rows.end.min(start + PAGE);
            self.page(batch, start..end, out)?;
            start = end;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<()> {
        if !self.pages.has_begun() {
            writeln!(out, "no cells")?;
        }
        Ok(())
    }
}
