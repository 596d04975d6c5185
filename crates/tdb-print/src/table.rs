//! The common style of all tables.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use crate::terminal::Terminal;

/// A line below the header and no other lines.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Creates an empty table. Cells never wrap, because wrapped names cannot be copied from a
/// terminal.
pub(super) fn new_table(terminal: Terminal) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled);
    // The caller decides whether to use color. The table library must not inspect the terminal.
    table.force_no_tty();
    if terminal.color() {
        table.enforce_styling();
        table.style_text_only();
    }
    table
}

/// Returns the width of the terminal in columns, or `None` if standard output is not a terminal or
/// its width is unknown.
pub(super) fn terminal_width(terminal: Terminal) -> Option<usize> {
    terminal.stdout.then(|| Table::new().width().map(usize::from)).flatten()
}

/// Creates a cell. Aligns the text to the right if `right` is `true`, otherwise to the left.
pub(super) fn cell(text: String, right: bool) -> Cell {
    Cell::new_owned(text).set_alignment(if right { CellAlignment::Right } else { CellAlignment::Left })
}

/// Returns the lines of the table without the padding on the left and trailing spaces.
pub(super) fn lines(table: &Table) -> impl Iterator<Item = String> {
    table.lines().map(|line| {
        let line = line.strip_prefix(' ').unwrap_or(&line);
        line.trim_end().to_owned()
    })
}
