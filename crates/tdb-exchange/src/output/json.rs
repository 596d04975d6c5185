//! JSON lines and JSON arrays.

use std::io::{self, Write};
use std::ops::Range;

use tdb_array::Batch;

use super::writer::CellWriter;
use crate::cells::Field;

/// Number of buffered bytes at which the buffer is written.
const CHUNK: usize = 64 << 10;

/// A writer of JSON, with one object per row.
#[derive(Debug)]
pub struct JsonWriter {
    fields: Vec<Field>,
    /// `true` if the rows are elements of one array.
    array: bool,
    any: bool,
    buffer: Vec<u8>,
}

impl JsonWriter {
    /// Creates a writer of one line per row.
    #[must_use]
    pub fn lines(fields: Vec<Field>) -> Self {
        Self { fields, array: false, any: false, buffer: Vec::new() }
    }

    /// Creates a writer of one array with all rows.
    #[must_use]
    pub fn array(fields: Vec<Field>) -> Self {
        Self { array: true, ..Self::lines(fields) }
    }

    fn object(&mut self, batch: &Batch, row: usize) {
        let buffer = &mut self.buffer;
        buffer.push(b'{');
        for (index, (field, column)) in self.fields.iter().zip(batch.columns()).enumerate() {
            if index > 0 {
                buffer.push(b',');
            }
            field.json_member(column, row, buffer);
        }
        buffer.push(b'}');
    }
}

impl CellWriter for JsonWriter {
    fn rows(&mut self, batch: &Batch, rows: Range<usize>, out: &mut dyn Write) -> io::Result<()> {
        for row in rows {
            if self.array {
                self.buffer.extend_from_slice(if self.any { b",\n" } else { b"[\n" });
            }
            self.any = true;
            self.object(batch, row);
            if !self.array {
                self.buffer.push(b'\n');
            }
            if self.buffer.len() >= CHUNK {
                out.write_all(&self.buffer)?;
                self.buffer.clear();
            }
        }
        out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.array {
            out.write_all(if self.any { b"\n]\n" } else { b"[]\n" })?;
        }
        Ok(())
    }
}
