//! A table of a moderate number of rows that are all known before the first is printed.

use std::io::Write;

use serde_json::{Map, Value};

use super::table::{cell, lines, new_table, terminal_width};
use super::{RowFormat, stdout};
use crate::failure::Result;
use crate::terminal::{Terminal, printable};

/// One value of a row: for people, and for machines.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    text: String,
    json: Value,
}

impl Entry {
    /// A value that people read otherwise than machines.
    pub(crate) fn shown(text: impl Into<String>, json: impl Into<Value>) -> Self {
        Self { text: text.into(), json: json.into() }
    }

    /// Nothing.
    pub(crate) fn none() -> Self {
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

/// Rows under named columns.
#[derive(Debug)]
pub(crate) struct Sheet {
    /// Names, and whether values stand at the right end.
    columns: Vec<(&'static str, bool)>,
    rows: Vec<Vec<Entry>>,
}

impl Sheet {
    pub(crate) fn new(columns: &[(&'static str, bool)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row with a value for each column.
    pub(crate) fn push(&mut self, row: Vec<Entry>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// Prints all rows.
    pub(crate) fn print(&self, format: RowFormat, terminal: Terminal) -> Result<()> {
        let mut out = stdout();
        match format {
            RowFormat::Table => self.table(&mut out, terminal)?,
            RowFormat::Json => {
                let rows: Vec<Value> = self.objects().collect();
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
        Ok(out.flush()?)
    }

    fn objects(&self) -> impl Iterator<Item = Value> {
        self.rows.iter().map(|row| {
            let pairs = self.columns.iter().zip(row).map(|((name, _), entry)| ((*name).to_owned(), entry.json.clone()));
            Value::Object(pairs.collect::<Map<_, _>>())
        })
    }

    fn table(&self, out: &mut impl Write, terminal: Terminal) -> Result<()> {
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

    /// One value per line, for rows that are wider than the terminal.
    fn records(&self, out: &mut impl Write, terminal: Terminal) -> Result<()> {
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

    fn csv(&self, out: &mut impl Write) -> Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.columns.iter().map(|(name, _)| *name))?;
        for row in &self.rows {
            writer.write_record(row.iter().map(|entry| match &entry.json {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            }))?;
        }
        Ok(writer.flush()?)
    }
}
