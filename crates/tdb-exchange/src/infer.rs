//! Inference of schemas from rows.

mod dimension;
mod seen;

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use tdb_filters::{Filter, FilterPipeline};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_types::{CellValNum, Datatype};

use crate::cells::CellKind;
use crate::error::{Error, Result};
use crate::rows::{Entry, Input, Row};
pub(crate) use dimension::{dimension, is_integer};
use seen::Seen;

/// Returns the number of values per cell of an inferred type: variable for text and bytes, else
/// one.
fn number_of(datatype: Datatype) -> CellValNum {
    let is_text = datatype.is_string() || datatype.is_bytes();
    if is_text || datatype == Datatype::Char { CellValNum::Var } else { CellValNum::ONE }
}

/// An inference of a schema from the rows of files.
#[derive(Debug, Default)]
pub struct Inference {
    columns: Vec<(String, Guess)>,
    /// Indices into `columns`, by name.
    places: HashMap<String, usize>,
    rows: u64,
    /// `true` if all cells are text, as in CSV.
    is_text: bool,
    /// Indices into `columns` of the columns of the current file. Empty for JSON.
    in_file: Vec<usize>,
}

/// The observed cells of a column.
#[derive(Debug, Default)]
struct Guess {
    /// Number of rows with a value.
    present: u64,
    /// Number of additional rows with empty quotes. If the column has a text type, their values are
    /// empty texts. Otherwise the values are missing.
    quoted: u64,
    /// Number of rows with an array. `present` includes these rows.
    arrays: u64,
    /// The values of the cells, or of the elements of the arrays.
    seen: Seen,
}

impl Inference {
    /// Reads the rows of a file. Calls `each` for each row, with its line, and with the reason if
    /// the row cannot be read. `nulls` lists the texts that represent null in CSV.
    ///
    /// # Errors
    /// Fails if the file cannot be read further.
    pub fn read(
        &mut self,
        input: &Input,
        nulls: &[String],
        mut each: impl FnMut(u64, Result<(), String>),
    ) -> Result<()> {
        let mut rows = input.rows()?;
        let columns = rows.columns();
        self.is_text = columns.is_some();
        self.in_file = columns.unwrap_or_default().iter().map(|name| self.place(name)).collect();
        while let Some((line, row)) = rows.next(input.name())? {
            each(line, row.map(|row| self.add(row, nulls)));
        }
        Ok(())
    }

    /// Returns the index of the column with this name. Adds the column if it is new.
    fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.columns.len();
        self.columns.push((name.to_owned(), Guess::default()));
        self.places.insert(name.to_owned(), place);
        place
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    fn add(&mut self, row: Row<'_>, nulls: &[String]) {
        self.rows += 1;
        match row {
            Row::Csv { .. } => {
                for (in_row, place) in self.in_file.iter().enumerate() {
                    if let Some(entry) = row.entry("", Some(in_row)) {
                        self.columns[*place].1.add(entry, nulls, self.is_text);
                    }
                }
            }
            Row::Json(members) => {
                for (name, value) in members {
                    let place = self.place(name);
                    self.columns[place].1.add(Entry::Json(value), nulls, self.is_text);
                }
            }
        }
    }

    /// Returns the schema of a sparse array with these columns as dimensions, and all other columns
    /// as attributes. `types` sets the types of some columns.
    ///
    /// # Errors
    /// Fails if no dimension is named, if no row was read, if a named column does not exist or
    /// cannot be a dimension, or if no type fits the values of a column.
    pub fn schema(&self, dimensions: &[String], types: &[(String, Datatype)], duplicates: bool) -> Result<ArraySchema> {
        let names = || self.columns.iter().map(|(name, _)| name.clone()).collect();
        if dimensions.is_empty() {
            return Err(Error::NoDimensions { columns: names() });
        }
        if self.rows == 0 {
            return Err(Error::NoRows);
        }
        let missing =
            |column: &str, is_typed| Error::NoSuchColumn { column: column.to_owned(), columns: names(), is_typed };
        if let Some((name, _)) = types.iter().find(|(name, _)| !self.places.contains_key(name)) {
            return Err(missing(name, true));
        }
        let told = |name: &str| types.iter().find(|(known, _)| known == name).map(|(_, datatype)| *datatype);
        let mut builder = SchemaBuilder::sparse().allows_duplicates(duplicates);
        for name in dimensions {
            let place = self.places.get(name).ok_or_else(|| missing(name, false))?;
            builder = builder.dimension(self.columns[*place].1.dimension(name, self.rows, told(name))?);
        }
        let dimensions: HashSet<&String> = dimensions.iter().collect();
        for (name, guess) in self.columns.iter().filter(|(name, _)| !dimensions.contains(name)) {
            builder = builder.attribute(guess.attribute(name, self.rows, told(name))?);
        }
        Ok(builder.build()?)
    }
}

impl Guess {
    fn add(&mut self, entry: Entry<'_>, nulls: &[String], is_text: bool) {
        self.seen.is_text = is_text;
        match entry {
            Entry::Text(text) if text.is_null(nulls, true) => return,
            Entry::Text(text) if text.text.is_empty() && text.is_quoted() => {
                self.quoted += 1;
                return;
            }
            Entry::Json(Value::Null) => return,
            Entry::Text(text) => self.seen.add_text(text.text),
            Entry::Json(Value::Array(members)) => {
                self.arrays += 1;
                members.iter().for_each(|member| self.seen.add_json(member));
            }
            Entry::Json(value) => self.seen.add_json(value),
        }
        self.present += 1;
    }

    /// Returns the given type, or a type that fits all values.
    ///
    /// # Errors
    /// Fails if no type fits all values.
    fn datatype(&self, name: &str, told: Option<Datatype>) -> Result<(Datatype, CellValNum)> {
        if let Some(datatype) = told {
            return Ok((datatype, number_of(datatype)));
        }
        let datatype = self.seen.datatype();
        let other = |what: &str| Err(Error::NoType { column: name.to_owned(), contents: what.to_owned() });
        match datatype {
            None if self.arrays > 0 => Ok((Datatype::Int64, CellValNum::Var)),
            None => Ok((Datatype::StringUtf8, CellValNum::Var)),
            Some(_) if self.arrays > 0 && self.arrays < self.present => other("both arrays and single values"),
            Some(Datatype::StringUtf8 | Datatype::Char | Datatype::Blob) if self.arrays > 0 => {
                other("arrays whose values are not all numbers, not all booleans and not all dates")
            }
            Some(datatype @ (Datatype::StringUtf8 | Datatype::Char | Datatype::Blob)) => {
                Ok((datatype, CellValNum::Var))
            }
            Some(datatype) if self.arrays > 0 => Ok((datatype, CellValNum::Var)),
            Some(datatype) => Ok((datatype, CellValNum::ONE)),
        }
    }

    fn attribute(&self, name: &str, rows: u64, told: Option<Datatype>) -> Result<Attribute> {
        let (datatype, number) = self.datatype(name, told)?;
        let attribute = Attribute::new(name, datatype).with_cell_val_num(number);
        let attribute =
            attribute.with_filters(FilterPipeline::new(vec![Filter::Zstd { level: Filter::DEFAULT_LEVEL }]));
        // The fill value is null, so that readers return null for unwritten cells.
        Ok(if self.present_as(datatype) < rows { attribute.nullable(false) } else { attribute })
    }

    /// Returns the number of rows with a cell of this type.
    fn present_as(&self, datatype: Datatype) -> u64 {
        let may_be_empty = CellKind::of(datatype, number_of(datatype), false).may_be_empty();
        self.present + if may_be_empty { self.quoted } else { 0 }
    }

    fn dimension(&self, name: &str, rows: u64, told: Option<Datatype>) -> Result<Dimension> {
        let (datatype, number) = self.datatype(name, told)?;
        let present = self.present_as(datatype);
        if present < rows {
            let empty = rows - present;
            return Err(Error::NoDimension { column: name.to_owned(), reason: format!("empty in {empty} rows") });
        }
        dimension(name, (datatype, number), self.seen.low.zip(self.seen.high))
    }
}
