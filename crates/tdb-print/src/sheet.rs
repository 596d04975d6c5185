//! A table of rows that are all known before the first row is printed.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::Value;
use tdb_exchange::CellKind;
use tdb_types::{CellValNum, Datatype};

use crate::table::{cell, lines, new_table, terminal_width};
use crate::terminal::{Terminal, printable};
use crate::{RowFormat, stdout};

/// Maximum number of bytes of a cell that a table shows.
const MOST_SHOWN: usize = 4 << 10;

/// One value of a row, with its text for tables and its JSON for other formats.
#[derive(Clone, Debug)]
pub struct Entry {
    text: String,
    json: Json,
}

/// The value for machine-readable formats.
#[derive(Clone, Debug)]
enum Json {
    Value(Value),
    /// A cell, possibly with many values.
    Cell {
        datatype: Datatype,
        number: CellValNum,
        bytes: Vec<u8>,
    },
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Cell { datatype, number, bytes } => match CellKind::of(*datatype, *number, false).values(bytes) {
                // Serialize the values one by one. A single JSON document of all values would take
                // several times the memory of the cell.
                Some(values) => {
                    serializer.collect_seq(values.map(|value| json_cell(*datatype, CellValNum::ONE, value)))
                }
                None => json_cell(*datatype, *number, bytes).serialize(serializer),
            },
        }
    }
}

/// A row as a JSON object.
struct Object<'a>(&'a [(&'static str, bool)], &'a [Entry]);

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().zip(self.1).map(|((name, _), entry)| (name, &entry.json)))
    }
}

impl Entry {
    /// Creates a value from a text for tables and a JSON value for other formats.
    pub fn shown(text: impl Into<String>, json: impl Into<Value>) -> Self {
        Self { text: text.into(), json: Json::Value(json.into()) }
    }

    /// Creates a cell of this type. Creates only the form that `format` needs. The text for a table
    /// contains only the beginning of a long cell.
    pub fn cell(datatype: Datatype, number: CellValNum, bytes: &[u8], format: RowFormat) -> Self {
        if format != RowFormat::Table {
            return Self { text: String::new(), json: Json::Cell { datatype, number, bytes: bytes.to_vec() } };
        }
        let kind = CellKind::of(datatype, number, false);
        let shown = kind.beginning(bytes, MOST_SHOWN);
        let more = if shown.len() < bytes.len() { "…" } else { "" };
        Self::shown(format!("{}{more}", kind.text(shown)), Value::Null)
    }

    /// Creates an absent value: `-` in tables, null in JSON.
    pub fn none() -> Self {
        Self::shown("-", Value::Null)
    }
}

impl From<u64> for Entry {
    fn from(value: u64) -> Self {
        Self::shown(value.to_string(), value)
    }
}

impl From<&str> for Entry {
    fn from(value: &str) -> Self {
        Self::shown(value, value)
    }
}

impl From<String> for Entry {
    fn from(value: String) -> Self {
        Self::shown(value.clone(), value)
    }
}

/// Converts a cell to JSON, in the same form as `tdb read`. Returns null if the cell has no JSON
/// form.
pub fn json_cell(datatype: Datatype, number: CellValNum, bytes: &[u8]) -> Value {
    let mut text = Vec::new();
    CellKind::of(datatype, number, false).json(bytes, &mut text);
    serde_json::from_slice(&text).unwrap_or(Value::Null)
}

/// Returns a cell as CSV text: the JSON form, but strings without quotes, and null as an empty
/// text.
fn csv_cell(datatype: Datatype, number: CellValNum, bytes: &[u8]) -> String {
    if CellKind::of(datatype, number, false).values(bytes).is_some() {
        let json = Json::Cell { datatype, number, bytes: bytes.to_vec() };
        return serde_json::to_string(&json).unwrap_or_default();
    }
    match json_cell(datatype, number, bytes) {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// A table of rows with named columns.
#[derive(Debug)]
pub struct Sheet {
    /// The name of each column, and `true` for right alignment.
    columns: Vec<(&'static str, bool)>,
    rows: Vec<Vec<Entry>>,
}

impl Sheet {
    /// Creates a sheet without rows. Each column has a name, and `true` for right alignment.
    #[must_use]
    pub fn new(columns: &[(&'static str, bool)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row with a value for each column.
    pub fn push(&mut self, row: Vec<Entry>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// Returns `true` if the number of rows is zero.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Prints all rows to standard output.
    ///
    /// # Errors
    /// Fails if standard output cannot be written.
    pub fn print(&self, format: RowFormat, terminal: Terminal) -> io::Result<()> {
        let mut out = stdout();
        match format {
            RowFormat::Table => self.table(&mut out, terminal)?,
            RowFormat::Json => {
                let rows: Vec<Object<'_>> = self.objects().collect();
                serde_json::to_writer_pretty(&mut out, &rows)?;
                writeln!(out)?;
            }
            RowFormat::Jsonl => {
                for row in self.objects() {
                    serde_json::to_writer(&mut out, &row)?;
                    writeln!(out)?;
                }
            }
            RowFormat::Csv => self.csv(&mut out)?,
        }
        out.flush()
    }

    fn objects(&self) -> impl Iterator<Item = Object<'_>> {
        self.rows.iter().map(|row| Object(&self.columns, row))
    }

    fn table(&self, out: &mut impl Write, terminal: Terminal) -> io::Result<()> {
        let mut table = new_table(terminal);
        table.set_header(self.columns.iter().map(|(name, right)| cell((*name).to_owned(), *right)));
        for row in &self.rows {
            let right = self.columns.iter().map(|(_, right)| *right);
            table.add_row(row.iter().zip(right).map(|(entry, right)| cell(printable(&entry.text), right)));
        }
        let lines: Vec<String> = lines(&table).collect();
        let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        if terminal_width(terminal).is_some_and(|room| width > room) {
            return self.records(out, terminal);
        }
        for line in lines {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Prints each row as several lines with one value per line. Used if the table is wider than
    /// the terminal.
    fn records(&self, out: &mut impl Write, terminal: Terminal) -> io::Result<()> {
        let width = self.columns.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let paint = terminal.paint();
        for (index, row) in self.rows.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            for ((name, _), entry) in self.columns.iter().zip(row) {
                writeln!(out, "{}  {}", paint.bold(&format!("{name:<width$}")), printable(&entry.text))?;
            }
        }
        Ok(())
    }

    fn csv(&self, out: &mut impl Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.columns.iter().map(|(name, _)| *name))?;
        for row in &self.rows {
            writer.write_record(row.iter().map(|entry| match &entry.json {
                Json::Value(Value::Null) => String::new(),
                Json::Value(Value::String(text)) => text.clone(),
                Json::Value(other) => other.to_string(),
                Json::Cell { datatype, number, bytes } => csv_cell(*datatype, *number, bytes),
            }))?;
        }
        writer.flush()
    }
}
