//! A schema from rows.

mod seen;

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use tdb_filters::{Filter, FilterPipeline};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_types::{CellValNum, Datatype};

use super::dimension::dimension;
use super::rows::{Entry, Row};
use crate::cells::Kind;
use crate::failure::{Failure, Result};
use seen::Seen;

/// How many values a cell of a type has: text and bytes any number, others one.
fn number_of(datatype: Datatype) -> CellValNum {
    let is_text = datatype.is_string() || datatype.is_bytes();
    if is_text || datatype == Datatype::Char { CellValNum::Var } else { CellValNum::ONE }
}

/// What was seen of the columns of a file.
#[derive(Debug, Default)]
pub(crate) struct Guesses {
    columns: Vec<(String, Guess)>,
    /// Where the columns stand in the list, by their names.
    places: HashMap<String, usize>,
    rows: u64,
    /// Whether cells are text whatever they hold, as in CSV.
    is_text: bool,
    /// The places in the list of the columns of the file that is looked at, if all of its rows have the same.
    in_file: Vec<usize>,
}

/// What was seen of a column.
#[derive(Debug, Default)]
struct Guess {
    /// In how many rows there was something.
    present: u64,
    /// In how many other rows there was nothing, but in quotes: an empty text, if the column is one of texts.
    quoted: u64,
    /// In how many of these it was an array.
    arrays: u64,
    /// What was seen in cells, or in the arrays.
    seen: Seen,
}

impl Guesses {
    /// Goes on with a file with these columns, if all of its rows have the same.
    pub(crate) fn begin(&mut self, columns: Option<&[String]>) {
        self.is_text = columns.is_some();
        self.in_file = columns.unwrap_or_default().iter().map(|name| self.place(name)).collect();
    }

    /// The place of the column of this name, which is new perhaps.
    fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.columns.len();
        self.columns.push((name.to_owned(), Guess::default()));
        self.places.insert(name.to_owned(), place);
        place
    }

    /// Whether there was no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Looks at a row.
    pub(crate) fn add(&mut self, row: Row<'_>, nulls: &[String]) {
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

    /// The schema of a sparse array with these columns as dimensions, and the others as attributes.
    ///
    /// # Errors
    /// There is no such column, or it can't be a dimension.
    pub(crate) fn schema(
        &self,
        dimensions: &[String],
        types: &[(String, Datatype)],
        duplicates: bool,
    ) -> Result<ArraySchema> {
        let names = || self.columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        if dimensions.is_empty() {
            return Err(Failure::usage("there is no such array, and nothing says what its dimensions are")
                .with_hint(format!("name columns with --dimensions, of {}; or give a --schema", names())));
        }
        if self.rows == 0 {
            return Err(Failure::usage("there is no such array, and no row that shows the types of the columns")
                .with_hint("give a --schema"));
        }
        if let Some((name, _)) = types.iter().find(|(name, _)| !self.places.contains_key(name)) {
            return Err(Failure::usage(format!("--type {name}: no column is called {name:?}"))
                .with_hint(format!("the columns are {}", names())));
        }
        let told = |name: &str| types.iter().find(|(known, _)| known == name).map(|(_, datatype)| *datatype);
        let mut builder = SchemaBuilder::sparse().allows_duplicates(duplicates);
        for name in dimensions {
            let place = self.places.get(name).ok_or_else(|| {
                Failure::usage(format!("no column is called {name:?}"))
                    .with_hint(format!("the columns are {}", names()))
            })?;
            builder = builder.dimension(self.columns[*place].1.dimension(name, self.rows, told(name))?);
        }
        let dimensions: HashSet<&String> = dimensions.iter().collect();
        for (name, guess) in self.columns.iter().filter(|(name, _)| !dimensions.contains(name)) {
            builder = builder.attribute(guess.attribute(name, self.rows, told(name))?);
        }
        builder.build().map_err(|error| Failure::usage(error.to_string()).with_hint("give a --schema"))
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

    /// The type that was told, or one that has cells like these.
    ///
    /// # Errors
    /// There is none.
    fn datatype(&self, name: &str, told: Option<Datatype>) -> Result<(Datatype, CellValNum)> {
        if let Some(datatype) = told {
            return Ok((datatype, number_of(datatype)));
        }
        let datatype = self.seen.datatype();
        let other = |what: &str| {
            Err(Failure::usage(format!("no type fits column {name:?}: it holds {what}")).with_hint("give a --schema"))
        };
        match datatype {
            None if self.arrays > 0 => Ok((Datatype::Int64, CellValNum::Var)),
            None => Ok((Datatype::StringUtf8, CellValNum::Var)),
            Some(_) if self.arrays > 0 && self.arrays < self.present => other("both arrays and single values"),
            Some(Datatype::StringUtf8 | Datatype::Char | Datatype::Blob) if self.arrays > 0 => {
                other("arrays of what is not all numbers, not all truths and not all dates")
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
        // What is null holds the fill value, and none that were written.
        Ok(if self.present_as(datatype) < rows { attribute.nullable(false) } else { attribute })
    }

    /// In how many rows there is a cell of this type.
    fn present_as(&self, datatype: Datatype) -> u64 {
        let may_be_empty = Kind::of(datatype, number_of(datatype), false).may_be_empty();
        self.present + if may_be_empty { self.quoted } else { 0 }
    }

    fn dimension(&self, name: &str, rows: u64, told: Option<Datatype>) -> Result<Dimension> {
        let (datatype, number) = self.datatype(name, told)?;
        let present = self.present_as(datatype);
        if present < rows {
            let empty = rows - present;
            return Err(Failure::usage(format!("column {name:?} can't be a dimension: it is empty in {empty} rows")));
        }
        dimension(name, (datatype, number), self.seen.low.zip(self.seen.high))
    }
}
