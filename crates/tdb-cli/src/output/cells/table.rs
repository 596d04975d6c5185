//! A table that is printed in pages, each laid out for its own rows but never narrower than the page before.

use std::io::Write;
use std::ops::Range;

use comfy_table::{Attribute, Cell, ColumnConstraint, Width};
use tdb_array::{Batch, Column};

use super::writer::CellWriter;
use crate::cells::Field;
use crate::failure::Result;
use crate::output::table::{cell, lines, new_table};
use crate::terminal::{Terminal, push_printable};

/// Rows that are laid out together.
const PAGE: usize = 500;
/// Characters of a cell that are shown.
const CELL: usize = 48;
/// What stands for a null cell.
const NULL: &str = "null";
/// What heads the column of an attribute without a name.
const ANONYMOUS: &str = "(unnamed)";

/// Writes a header and one line per row.
pub(super) struct TableWriter {
    fields: Vec<Field>,
    terminal: Terminal,
    /// How wide the columns were so far; empty before the first page.
    widths: Vec<u16>,
    begun: bool,
}

impl TableWriter {
    pub(super) fn new(fields: Vec<Field>, terminal: Terminal) -> Self {
        Self { fields, terminal, widths: Vec::new(), begun: false }
    }

    fn page(&mut self, batch: &Batch, rows: Range<usize>, out: &mut dyn Write) -> Result<()> {
        let mut table = new_table(self.terminal);
        table.set_header(self.fields.iter().map(|field| {
            let name = if field.name().is_empty() { ANONYMOUS } else { field.name() };
            cell(printable(name), field.is_numeric()).add_attribute(Attribute::Bold)
        }));
        for row in rows {
            let columns = self.fields.iter().zip(batch.columns());
            table.add_row(columns.map(|(field, column)| table_cell(field, column, row)));
        }
        for (column, width) in table.column_iter_mut().zip(&self.widths) {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(*width)));
        }
        let widths = table.column_max_content_widths();
        // Room for the space on either side.
        let widths = widths.iter().map(|width| width.saturating_add(2));
        let before = self.widths.iter().copied().chain(std::iter::repeat(0));
        self.widths = widths.zip(before).map(|(width, before)| width.max(before)).collect();
        // Every page is laid out under the header, but only the first one shows it, and the line below.
        let skip = if std::mem::replace(&mut self.begun, true) { 2 } else { 0 };
        for line in lines(&table).skip(skip) {
            writeln!(out, "{line}")?;
        }
        Ok(())
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
        if !self.begun {
            writeln!(out, "no cells")?;
        }
        Ok(())
    }
}

fn table_cell(field: &Field, column: &Column, row: usize) -> Cell {
    match field.text(column, row) {
        Some(text) => cell(printable(&text), field.is_numeric()),
        None => cell(NULL.to_owned(), field.is_numeric()).add_attribute(Attribute::Dim),
    }
}

/// The beginning of the text on one line, with nothing in it that would steer the terminal.
fn printable(text: &str) -> String {
    let mut shown = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == CELL {
            shown.push('…');
            break;
        }
        push_printable(character, &mut shown);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stay_on_one_line_and_cannot_steer_the_terminal() {
        assert_eq!(printable("a\nb\u{1b}[31m\0"), "a\\nb\\u{1b}[31m\\u{0}");
        assert_eq!(printable(&"x".repeat(CELL)), "x".repeat(CELL));
        assert_eq!(printable(&"x".repeat(CELL + 1)), format!("{}…", "x".repeat(CELL)));
    }
}
