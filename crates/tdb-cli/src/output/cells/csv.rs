//! Comma-separated values.

use std::io::Write;
use std::ops::Range;

use tdb_array::Batch;

use super::writer::CellWriter;
use crate::cells::Field;
use crate::failure::Result;

/// Writes a header line and one line per row, as RFC 4180 has it but for line ends of one character.
pub(super) struct CsvWriter {
    fields: Vec<Field>,
    null: String,
    begun: bool,
    /// The text of one cell.
    text: Vec<u8>,
}

impl CsvWriter {
    pub(super) fn new(fields: Vec<Field>, null: &str) -> Self {
        Self { fields, null: null.to_owned(), begun: false, text: Vec::new() }
    }

    fn header(&mut self, writer: &mut csv::Writer<&mut dyn Write>) -> Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            writer.write_record(self.fields.iter().map(Field::name))?;
        }
        Ok(())
    }
}

impl CellWriter for CsvWriter {
    fn rows(&mut self, batch: &Batch, rows: Range<usize>, out: &mut dyn Write) -> Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        self.header(&mut writer)?;
        for row in rows {
            for (field, column) in self.fields.iter().zip(batch.columns()) {
                self.text.clear();
                match field.push_text(column, row, &mut self.text) {
                    true => writer.write_field(&self.text)?,
                    false => writer.write_field(&self.null)?,
                }
            }
            writer.write_record(None::<&[u8]>)?;
        }
        Ok(writer.flush()?)
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        self.header(&mut writer)?;
        Ok(writer.flush()?)
    }
}
