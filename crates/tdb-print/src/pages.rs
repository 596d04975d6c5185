//! A paged table. The rows of a page determine its column widths, but each column is at least as
//! wide as on the previous page.

use std::io::{self, Write};

use comfy_table::{Attribute, Cell, ColumnConstraint, Width};

use crate::table::{cell, lines, new_table};
use crate::terminal::{Terminal, push_printable};

/// Rows per page.
pub(crate) const PAGE: usize = 500;
/// Maximum number of characters per cell.
const CELL: usize = 48;
/// The text of a null cell.
const NULL: &str = "null";
/// The header of the column of an anonymous attribute.
const ANONYMOUS: &str = "(unnamed)";

/// A table that prints its rows page by page, with one line per row.
#[derive(Debug)]
pub(crate) struct Pages {
    terminal: Terminal,
    /// The name of each column, and `true` if the column contains numbers, which are right-aligned.
    columns: Vec<(String, bool)>,
    /// The widths of the columns on the previous page. Empty before the first page.
    widths: Vec<u16>,
    begun: bool,
}

impl Pages {
    pub(crate) fn new(columns: Vec<(String, bool)>, terminal: Terminal) -> Self {
        Self { terminal, columns, widths: Vec::new(), begun: false }
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// Prints up to [`PAGE`] rows. `None` represents a null cell.
    pub(crate) fn page<R>(&mut self, rows: impl IntoIterator<Item = R>, out: &mut dyn Write) -> io::Result<()>
    where
        R: IntoIterator<Item = Option<String>>,
    {
        let mut table = new_table(self.terminal);
        table.set_header(self.columns.iter().map(|(name, is_number)| {
            let name = if name.is_empty() { ANONYMOUS } else { name };
            cell(printable(name), *is_number).add_attribute(Attribute::Bold)
        }));
        for row in rows {
            let columns = self.columns.iter().zip(row);
            table.add_row(columns.map(|((_, is_number), text)| table_cell(text.as_deref(), *is_number)));
        }
        for (column, width) in table.column_iter_mut().zip(&self.widths) {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(*width)));
        }
        let widths = table.column_max_content_widths();
        // Add the padding on both sides.
        let widths = widths.iter().map(|width| width.saturating_add(2));
        let before = self.widths.iter().copied().chain(std::iter::repeat(0));
        self.widths = widths.zip(before).map(|(width, before)| width.max(before)).collect();
        // Each page is laid out with the header, but only the first page prints the header and the
        // line below.
        let skip = if std::mem::replace(&mut self.begun, true) { 2 } else { 0 };
        for line in lines(&table).skip(skip) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

fn table_cell(text: Option<&str>, is_number: bool) -> Cell {
    match text {
        Some(text) => cell(printable(text), is_number),
        None => cell(NULL.to_owned(), is_number).add_attribute(Attribute::Dim),
    }
}

/// Returns at most the first [`CELL`] characters of the text, with control characters escaped.
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
