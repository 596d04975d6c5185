//! Rows of CSV and JSON files, with their line numbers.

mod elements;
mod lines;
mod quotes;
mod raw;

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use csv::{ReaderBuilder, StringRecord};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use tdb_array::tdb_storage::CancelToken;

use crate::error::{Error, Result};
use elements::{Elements, Found, is_array};
use lines::Lines;
pub(crate) use quotes::Quotes;
use raw::{RawBytes, RawRow};

/// A source of rows that can be read several times, to check the rows and then to import them.
#[derive(Debug)]
pub struct Input {
    /// The name for error messages.
    name: String,
    bytes: Bytes,
    format: RowsFormat,
    delimiter: u8,
    /// Number of bytes read in the current pass.
    taken: Arc<AtomicU64>,
    cancel: CancelToken,
}

#[derive(Debug)]
enum Bytes {
    /// A file and its size in bytes.
    File(PathBuf, u64),
    /// Complete content in memory, such as the content of a pipe, which cannot be read twice.
    Memory(Arc<[u8]>),
}

/// The format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsFormat {
    /// Comma-separated values with a header.
    Csv,
    /// One JSON object per line, or an array of objects.
    Json,
}

impl Input {
    /// Creates an input from the file at `path`. Reads a pipe into memory. The default delimiter of
    /// CSV is a tab for `.tsv` files, and a comma for other files.
    ///
    /// # Errors
    /// Fails if the file does not exist, or if a pipe cannot be read.
    pub fn file(path: PathBuf, format: RowsFormat, delimiter: Option<u8>) -> Result<Self> {
        let name = path.display().to_string();
        let is_tabbed = path.extension().is_some_and(|extension| extension == "tsv");
        let delimiter = delimiter.unwrap_or(if is_tabbed { b'\t' } else { b',' });
        match Bytes::new(path) {
            Ok(bytes) => {
                Ok(Self { name, bytes, format, delimiter, taken: Arc::default(), cancel: CancelToken::default() })
            }
            Err(source) => Err(Error::Io { name, source }),
        }
    }

    /// Creates an input from bytes in memory. `name` is the name in error messages. The default
    /// delimiter of CSV is a comma.
    pub fn bytes(
        name: impl Into<String>,
        bytes: impl Into<Arc<[u8]>>,
        format: RowsFormat,
        delimiter: Option<u8>,
    ) -> Self {
        let (bytes, delimiter) = (Bytes::Memory(bytes.into()), delimiter.unwrap_or(b','));
        Self { name: name.into(), bytes, format, delimiter, taken: Arc::default(), cancel: CancelToken::default() }
    }

    /// Sets a token that ends all passes over the rows, which then fail.
    #[must_use]
    pub fn cancelled_by(self, token: &CancelToken) -> Self {
        Self { cancel: token.clone(), ..self }
    }

    /// Returns a counter of the bytes that the current pass has read.
    #[must_use]
    pub fn taken(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.taken)
    }

    /// Returns the size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        match &self.bytes {
            Bytes::File(_, size) => *size,
            Bytes::Memory(bytes) => bytes.len() as u64,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the total number of bytes, and the number read in this pass.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.size(), self.taken.load(Ordering::Relaxed))
    }

    /// Starts a pass over the rows.
    pub(crate) fn rows(&self) -> Result<Rows> {
        self.taken.store(0, Ordering::Relaxed);
        let bytes: Box<dyn Read> = match &self.bytes {
            Bytes::File(path, _) => Box::new(File::open(path).map_err(|error| failed(&self.name, error))?),
            Bytes::Memory(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
        };
        let lines = (self.format == RowsFormat::Csv).then(|| Lines::new(self.delimiter));
        let (taken, cancel) = (Arc::clone(&self.taken), self.cancel.clone());
        let counted = Counted { bytes, taken, cancel, lines, raw: RawBytes::default() };
        let broken = |why: &dyn fmt::Display| Error::text(&self.name, None, why);
        match self.format {
            RowsFormat::Csv => {
                // `Rows` itself rejects each row with a wrong number of fields, and reports its
                // line.
                let mut options = ReaderBuilder::new();
                let mut reader =
                    options.delimiter(self.delimiter).flexible(true).buffer_capacity(1 << 16).from_reader(counted);
                let columns = reader.headers().map_err(|error| match error.into_kind() {
                    csv::ErrorKind::Io(error) => failed(&self.name, error),
                    csv::ErrorKind::Utf8 { .. } => broken(&"the header is not UTF-8"),
                    other => broken(&format_args!("invalid CSV: {other:?}")),
                })?;
                let mut columns: Vec<String> = columns.iter().map(str::to_owned).collect();
                if let Some(first) = columns.first_mut()
                    && let Some(name) = first.strip_prefix('\u{feff}')
                {
                    *first = name.to_owned();
                }
                let mut seen = HashSet::new();
                if let Some(name) = columns.iter().find(|name| !seen.insert(name.as_str())) {
                    return Err(broken(&format_args!("two columns are named {name:?}")));
                }
                Ok(Rows::Csv {
                    reader: Box::new(reader),
                    columns,
                    record: StringRecord::new(),
                    delimiter: self.delimiter,
                })
            }
            RowsFormat::Json => {
                let mut lines = Box::new(BufReader::with_capacity(1 << 16, counted));
                if is_array(&mut lines).map_err(|error| failed(&self.name, error))? {
                    return Ok(Rows::Json { elements: Elements::new(lines), bytes: Vec::new(), row: Map::new() });
                }
                Ok(Rows::Jsonl { lines, line: Vec::new(), number: 0, row: Map::new() })
            }
        }
    }
}

impl Bytes {
    fn new(path: PathBuf) -> io::Result<Self> {
        let metadata = std::fs::metadata(&path)?;
        Ok(if metadata.is_file() {
            Self::File(path, metadata.len())
        } else {
            Self::Memory(std::fs::read(path)?.into())
        })
    }
}

fn failed(name: &str, source: io::Error) -> Error {
    Error::Io { name: name.to_owned(), source }
}

/// A reader that counts bytes. For CSV, also counts lines and keeps the bytes of the current row.
pub(crate) struct Counted {
    bytes: Box<dyn Read>,
    taken: Arc<AtomicU64>,
    cancel: CancelToken,
    lines: Option<Lines>,
    raw: RawBytes,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("the import was cancelled"));
        }
        let count = self.bytes.read(buffer)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        if let (Some(lines), Some(bytes)) = (&mut self.lines, buffer.get(..count)) {
            lines.pass(bytes);
            self.raw.pass(bytes);
        }
        Ok(count)
    }
}

/// An iteration over the rows of an input.
pub(crate) enum Rows {
    Csv { reader: Box<csv::Reader<Counted>>, columns: Vec<String>, record: StringRecord, delimiter: u8 },
    Json { elements: Elements, bytes: Vec<u8>, row: Map<String, Value> },
    Jsonl { lines: Box<dyn BufRead>, line: Vec<u8>, number: u64, row: Map<String, Value> },
}

/// A field of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry<'a> {
    Text(Text<'a>),
    Json(&'a Value),
}

/// A field of a CSV row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    pub(crate) text: &'a str,
    place: usize,
    row: RawRow<'a>,
}

impl Text<'_> {
    /// Returns `true` if the field is null: if its text is one of `nulls`. A quoted field is null
    /// only if it is also empty, and cells of its type cannot be empty.
    pub(crate) fn is_null(&self, nulls: &[String], may_be_empty: bool) -> bool {
        nulls.iter().any(|null| null == self.text) && ((self.text.is_empty() && !may_be_empty) || !self.is_quoted())
    }

    pub(crate) fn is_quoted(&self) -> bool {
        self.row.is_quoted(self.place, self.text)
    }
}

/// The line of a row, and the row or the reason why it cannot be read.
pub(crate) type Read1<'a> = (u64, Result<Row<'a>, String>);

/// One row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row<'a> {
    Csv { record: &'a StringRecord, raw: RawRow<'a> },
    Json(&'a Map<String, Value>),
}

impl Rows {
    /// Returns the names of the columns, or `None` for JSON, where each row names its members.
    pub(crate) fn columns(&self) -> Option<&[String]> {
        match self {
            Self::Csv { columns, .. } => Some(columns),
            Self::Json { .. } | Self::Jsonl { .. } => None,
        }
    }

    /// Returns the next row, or `None` at the end.
    ///
    /// # Errors
    /// Fails if the file cannot be read further.
    pub(crate) fn next(&mut self, name: &str) -> Result<Option<Read1<'_>>> {
        match self {
            Self::Csv { reader, columns, record, delimiter } => {
                let start = reader.position().byte();
                reader.get_mut().raw.forget(start);
                let read = reader.read_record(record);
                let end = reader.position().byte();
                let Counted { lines, raw, .. } = reader.get_mut();
                let line = lines.as_mut().map_or(0, |lines| lines.of_row(start));
                match read {
                    Ok(false) => Ok(None),
                    // The unclosed field extends to the end of the file.
                    Ok(true) if lines.as_ref().is_some_and(Lines::ends_in_quotes) => {
                        Ok(Some((line, Err("a quote that begins in this row is not closed".to_owned()))))
                    }
                    Ok(true) => {
                        let (has, wants) = (record.len(), columns.len());
                        let row = Row::Csv { record, raw: raw.row(start, end, *delimiter) };
                        let short = || format!("found {has} fields, expected {wants} as in the header");
                        Ok(Some((line, if has == wants { Ok(row) } else { Err(short()) })))
                    }
                    Err(error) => match error.into_kind() {
                        csv::ErrorKind::Io(error) => Err(failed(name, error)),
                        csv::ErrorKind::Utf8 { err, .. } => Ok(Some((line, Err(format!("not UTF-8: {err}"))))),
                        other => Ok(Some((line, Err(format!("invalid CSV: {other:?}"))))),
                    },
                }
            }
            Self::Json { elements, bytes, row } => {
                Ok(match elements.next(bytes).map_err(|error| failed(name, error))? {
                    Found::End => None,
                    Found::Cut(line, why) => Some((line, Err(why.to_owned()))),
                    Found::Broken(line, why) => {
                        return Err(Error::Rows { name: name.to_owned(), line, reason: why.to_owned() });
                    }
                    Found::Element(line) => Some(match serde_json::from_slice(bytes) {
                        Ok(Members(read)) => {
                            *row = read;
                            (line, Ok(Row::Json(row)))
                        }
                        Err(error) => (line + error.line().saturating_sub(1) as u64, Err(no_object(&error))),
                    }),
                })
            }
            Self::Jsonl { lines, line, number, row } => loop {
                line.clear();
                if lines.read_until(b'\n', line).map_err(|error| failed(name, error))? == 0 {
                    return Ok(None);
                }
                *number += 1;
                if *number == 1 && line.starts_with("\u{feff}".as_bytes()) {
                    line.drain(.."\u{feff}".len());
                }
                if line.trim_ascii().is_empty() {
                    continue;
                }
                return Ok(Some(match serde_json::from_slice(line) {
                    Ok(Members(read)) => {
                        *row = read;
                        (*number, Ok(Row::Json(row)))
                    }
                    Err(error) => (*number, Err(no_object(&error))),
                }));
            },
        }
    }
}

/// The members of a JSON object. Parsing rejects repeated names.
struct Members(Map<String, Value>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Members, A::Error> {
                let mut members = Map::new();
                while let Some((name, value)) = access.next_entry::<String, Value>()? {
                    if members.contains_key(&name) {
                        return Err(A::Error::custom(format_args!("two members are named {name:?}")));
                    }
                    members.insert(name, value);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Visit)
    }
}

/// Returns the message of a JSON error, without the line number, which is relative to the row.
fn no_object(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let why = text.rsplit_once(" at line ").map_or(text.as_str(), |(why, _)| why);
    format!("invalid JSON object: {why}, at character {}", error.column().max(1))
}

impl<'a> Row<'a> {
    /// Returns the field with this name, or `None` if the row does not have the field. For CSV,
    /// `place` is the index of the column.
    pub(crate) fn entry(&self, name: &str, place: Option<usize>) -> Option<Entry<'a>> {
        match *self {
            Self::Csv { record, raw } => {
                let place = place?;
                Some(Entry::Text(Text { text: record.get(place)?, place, row: raw }))
            }
            Self::Json(members) => Some(Entry::Json(members.get(name)?)),
        }
    }
}
