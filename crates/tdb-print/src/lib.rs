//! Rows of TileDB arrays on a terminal and in a pipe: a table for people; JSON, JSON lines and CSV for machines.
//!
//! - [`cell_writer`]: cells as they come, batch by batch;
//! - [`RowPrinter`]: rows of any kind as they come;
//! - [`Sheet`]: a moderate number of rows that are all known;
//! - [`Terminal`], [`Paint`], [`printable`]: whether a terminal is there, colours, and text that steers nothing.

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

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// A table for people
    Table,
    /// One JSON array of objects
    Json,
    /// One JSON object per line
    Jsonl,
    /// Comma-separated values with a header line
    Csv,
}

impl RowFormat {
    /// What was asked for; else a table on a terminal, JSON lines into a pipe or file.
    pub fn or_default(asked: Option<Self>, terminal: Terminal) -> Self {
        asked.unwrap_or(if terminal.stdout { Self::Table } else { Self::Jsonl })
    }
}

/// How a description is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TextFormat {
    /// Text for people
    #[default]
    Text,
    /// One JSON object
    Json,
}

/// How a schema is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SchemaFormat {
    /// Text for people
    #[default]
    Text,
    /// One JSON object
    Json,
    /// TOML that `tdb create` takes
    Toml,
}

/// Standard output, buffered.
pub type Stdout = BufWriter<StdoutLock<'static>>;

/// Returns standard output, buffered.
#[must_use]
pub fn stdout() -> Stdout {
    BufWriter::with_capacity(64 << 10, io::stdout().lock())
}

/// Prints a JSON document with line breaks.
///
/// # Errors
/// It can't be written.
pub fn print_json(value: &serde_json::Value) -> io::Result<()> {
    let mut out = stdout();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    out.flush()
}

/// Prints text as it is.
///
/// # Errors
/// It can't be written.
pub fn print_text(text: &str) -> io::Result<()> {
    let mut out = stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}
