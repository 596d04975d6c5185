//! The look of our tables.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use crate::terminal::Terminal;

/// A line below the header and no other.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// An empty table. Cells are never wrapped: that would make names that can't be copied out of wide tables.
pub(super) fn new_table(terminal: Terminal) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled);
    // Whether there are colours is for us to say, and not for the library to guess.
    table.force_no_tty();
    if terminal.color() {
        table.enforce_styling();
        table.style_text_only();
    }
    table
}

/// Columns of the terminal that a table is printed on; none if it goes elsewhere.
pub(super) fn terminal_width(terminal: Terminal) -> Option<usize> {
    terminal.stdout.then(|| Table::new().width().map(usize::from)).flatten()
}

/// A cell of text, at the right end of its column if it is a number.
pub(super) fn cell(text: String, right: bool) -> Cell {
    Cell::new_owned(text).set_alignment(if right { CellAlignment::Right } else { CellAlignment::Left })
}

/// The table's lines, without the spaces at their ends.
pub(super) fn lines(table: &Table) -> impl Iterator<Item = String> {
    table.lines().map(|line| {
        let line = line.strip_prefix(' ').unwrap_or(&line);
        line.trim_end().to_owned()
    })
}
