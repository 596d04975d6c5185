//! Ways to print rows: a table for people; JSON, JSON lines and CSV for machines.

mod cells;
mod pages;
mod rows;
mod sheet;
mod table;

use std::io::{self, BufWriter, StdoutLock, Write};

use clap::ValueEnum;

pub(crate) use cells::cell_writer;
pub use rows::{RowColumn, RowPrinter, Rows};
pub(crate) use sheet::{Entry, Sheet, json_cell};

use crate::failure::Result;
use crate::terminal::Terminal;

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
    pub(crate) fn or_default(asked: Option<Self>, terminal: Terminal) -> Self {
        asked.unwrap_or(if terminal.stdout { Self::Table } else { Self::Jsonl })
    }
}

/// How a description is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// Text for people
    #[default]
    Text,
    /// One JSON object
    Json,
}

/// How a schema is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaFormat {
    /// Text for people
    #[default]
    Text,
    /// One JSON object
    Json,
    /// TOML that `tdb create` takes
    Toml,
}

/// Standard output, buffered.
pub(crate) type Stdout = BufWriter<StdoutLock<'static>>;

pub(crate) fn stdout() -> Stdout {
    BufWriter::with_capacity(64 << 10, io::stdout().lock())
}

/// Prints a JSON document with line breaks.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<()> {
    let mut out = stdout();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// Prints text as it is.
pub(crate) fn print_text(text: &str) -> Result<()> {
    let mut out = stdout();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
