//! Comma-separated values.

use std::io::{self, Write};
use std::ops::Range;

use tdb_array::Batch;

use super::writer::CellWriter;
use crate::cells::Field;

/// Number of buffered bytes at which the buffer is written.
const CHUNK: usize = 64 << 10;

/// A writer of CSV according to RFC 4180, with a header line and `\n` as line end. In a nullable
/// field, a non-null cell is quoted if its text equals the text of null, for example if both are
/// empty.
#[derive(Debug)]
pub struct CsvWriter {
    fields: Vec<Field>,
    null: Vec<u8>,
    begun: bool,
    /// The text of one cell.
    text: Vec<u8>,
    buffer: Vec<u8>,
}

impl CsvWriter {
    /// Creates a writer of these fields. `null` is the text of cells that are null or NaT.
    #[must_use]
    pub fn new(fields: Vec<Field>, null: &str) -> Self {
        Self { fields, null: null.into(), begun: false, text: Vec::new(), buffer: Vec::new() }
    }

    fn header(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        for (index, field) in self.fields.iter().enumerate() {
            push_field(field.name().as_bytes(), index, false, &mut self.buffer);
        }
        self.end_line(0);
    }

    /// Ends a line that begins at `start`. An empty line becomes `""`, because readers skip empty
    /// lines.
    fn end_line(&mut self, start: usize) {
        if self.buffer.len() == start {
            self.buffer.extend_from_slice(b"\"\"");
        }
        self.buffer.push(b'\n');
    }

    fn row(&mut self, batch: &Batch, row: usize) {
        let start = self.buffer.len();
        for (index, (field, column)) in self.fields.iter().zip(batch.columns()).enumerate() {
            self.text.clear();
            match field.push_text(column, row, &mut self.text) {
                true => {
                    let is_quoted = field.is_nullable() && self.text == self.null;
                    push_field(&self.text, index, is_quoted, &mut self.buffer);
                }
                false => push_field(&self.null, index, false, &mut self.buffer),
            }
        }
        self.end_line(start);
    }

    fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// Appends a field. Quotes the text if `is_quoted`, or if it contains special characters.
fn push_field(text: &[u8], index: usize, is_quoted: bool, out: &mut Vec<u8>) {
    if index > 0 {
        out.push(b',');
    }
    let is_special = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    if !is_quoted && !text.iter().any(is_special) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for (index, part) in text.split(|byte| *byte == b'"').enumerate() {
        if index > 0 {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(part);
    }
    out.push(b'"');
}

impl CellWriter for CsvWriter {
    fn rows(&mut self, batch: &Batch, rows: Range<usize>, out: &mut dyn Write) -> io::Result<()> {
        self.header();
        for row in rows {
            self.row(batch, row);
            if self.buffer.len() >= CHUNK {
                self.flush(out)?;
            }
        }
        self.flush(out)
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.header();
        self.flush(out)
    }
}
