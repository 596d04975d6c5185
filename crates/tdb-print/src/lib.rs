//! Output of rows of TileDB arrays to a terminal or a pipe, as a table, JSON, JSON lines or CSV.
//!
//! - [`cell_writer`] writes the cells of a query, batch by batch.
//! - [`RowPrinter`] writes rows of any source, batch by batch.
//! - [`Sheet`] prints a moderate number of rows that are all known in advance.
//! - [`Terminal`], [`Paint`] and [`printable`] detect terminals, color text, and escape control
//!   characters.

mod cells;
mod color;
mod pages;
mod rows;
mod sheet;
mod table;
mod terminal;

use std::io::{self, BufWriter, StdoutLock, Write};

use clap::ValueEnum;

pub use cells::{NullError, cell_writer};
pub use color::ColorChoice;
pub use rows::{RowColumn, RowPrinter, Rows};
pub use sheet::{Entry, Sheet, json_cell};
pub use terminal::{Paint, Terminal, message, printable};

/// An output format for rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// A table
    Table,
    /// One JSON array of objects
    Json,
    /// One JSON object per line
    Jsonl,
    /// Comma-separated values with a header line
    Csv,
}

impl RowFormat {
    /// Returns the requested format, or the default: a table on a terminal, else JSON lines.
    pub fn or_default(asked: Option<Self>, terminal: Terminal) -> Self {
        asked.unwrap_or(if terminal.stdout { Self::Table } else { Self::Jsonl })
    }
}

/// An output format for descriptions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TextFormat {
    /// Human-readable text
    #[default]
    Text,
    /// One JSON object
    Json,
}

/// An output format for schemas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SchemaFormat {
    /// Human-readable text
    #[default]
    Text,
    /// One JSON object
    Json,
    /// TOML, the input of `tdb create`
    Toml,
}

/// A buffered writer to standard output.
pub type Stdout = BufWriter<StdoutLock<'static>>;

/// Returns a buffered writer to standard output.
#[must_use]
pub fn stdout() -> Stdout {
    BufWriter::with_capacity(64 << 10, io::stdout().lock())
}

/// Prints a JSON document with line breaks.
///
/// # Errors
/// Fails if standard output cannot be written.
pub fn print_json(value: &serde_json::Value) -> io::Result<()> {
    let mut out = stdout();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    out.flush()
}

/// Prints text without escaping.
///
/// # Errors
/// Fails if standard output cannot be written.
pub fn print_text(text: &str) -> io::Result<()> {
    let mut out = stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}
