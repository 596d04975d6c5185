//! A schema from rows.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use tdb_filters::{Filter, FilterPipeline};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_types::{CellValNum, Datatype, Scalar};

use super::rows::{Entry, Row};
use crate::cells::datetime;
use crate::failure::{Failure, Result};

/// What was seen of the columns of a file.
#[derive(Debug, Default)]
pub(crate) struct Guesses {
    columns: Vec<(String, Guess)>,
    /// Where the columns stand in the list, by their names.
    places: HashMap<String, usize>,
    rows: u64,
}

/// What was seen of a column.
#[derive(Debug, Default)]
struct Guess {
    /// In how many rows there was something.
    present: u64,
    content: Option<Content>,
    low: Option<i128>,
    high: Option<i128>,
}

/// What all values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Bool,
    Integer,
    Float,
    Day,
    /// Date and time, with so many digits of seconds.
    Moment(usize),
    Text,
    /// Arrays of integers, or of floats.
    Integers,
    Floats,
}

impl Content {
    fn of_text(text: &str) -> Self {
        let is = |datatype| datetime::parse(datatype, text).is_some_and(|(first, last)| first <= last);
        if text == "true" || text == "false" {
            Self::Bool
        } else if text.parse::<i128>().is_ok() {
            Self::Integer
        } else if text.parse::<f64>().is_ok() {
            Self::Float
        } else if text.len() == 10 && is(Datatype::DatetimeDay) {
            Self::Day
        } else if text.len() > 10 && is(Datatype::DatetimeNs) {
            Self::Moment(text.trim_end_matches(['Z', 'z']).split_once('.').map_or(0, |(_, digits)| digits.len()))
        } else {
            Self::Text
        }
    }

    fn of_json(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Bool(_) => Self::Bool,
            Value::Number(number) if number.is_f64() => Self::Float,
            Value::Number(_) => Self::Integer,
            Value::String(text) => match Self::of_text(text) {
                content @ (Self::Day | Self::Moment(_)) => content,
                _ => Self::Text,
            },
            Value::Array(members) => {
                let members = members.iter().map(Self::of_json);
                let number = |one: Self, other: Option<Self>| match (one, other?) {
                    (Self::Integers, Self::Integer) => Some(Self::Integers),
                    (_, Self::Integer | Self::Float) => Some(Self::Floats),
                    _ => None,
                };
                members.into_iter().try_fold(Self::Integers, number)?
            }
            Value::Object(_) | Value::Null => return None,
        })
    }

    /// What values of both are.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Integer, Self::Float) | (Self::Float, Self::Integer) => Self::Float,
            (Self::Integers, Self::Floats) | (Self::Floats, Self::Integers) => Self::Floats,
            (Self::Moment(one), Self::Moment(other)) => Self::Moment(one.max(other)),
            (Self::Moment(digits), Self::Day) | (Self::Day, Self::Moment(digits)) => Self::Moment(digits),
            _ => Self::Text,
        }
    }
}

impl Guesses {
    /// Of a file with these columns, if all of its rows have the same.
    pub(crate) fn new(columns: Option<&[String]>) -> Self {
        let mut guesses = Self::default();
        for name in columns.unwrap_or_default() {
            guesses.place(name);
        }
        guesses
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

    /// Looks at a row.
    pub(crate) fn add(&mut self, row: Row<'_>, null: &str) {
        self.rows += 1;
        for (name, entry) in row.entries() {
            let place = self.place(name);
            self.columns[place].1.add(entry, null);
        }
    }

    /// The schema of a sparse array with these columns as dimensions, and the others as attributes.
    ///
    /// # Errors
    /// There is no such column, or it can't be a dimension.
    pub(crate) fn schema(&self, dimensions: &[String], duplicates: bool) -> Result<ArraySchema> {
        let names = || self.columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        if dimensions.is_empty() {
            return Err(Failure::usage("there is no such array, and nothing says what its dimensions are")
                .with_hint(format!("name columns with --dimensions, of {}; or give a --schema", names())));
        }
        if self.rows == 0 {
            return Err(Failure::usage("there is no such array, and no row to tell the types of the columns by")
                .with_hint("give a --schema"));
        }
        let mut builder = SchemaBuilder::sparse().allows_duplicates(duplicates);
        for name in dimensions {
            let place = self.places.get(name).ok_or_else(|| {
                Failure::usage(format!("no column is called {name:?}"))
                    .with_hint(format!("the columns are {}", names()))
            })?;
            builder = builder.dimension(self.columns[*place].1.dimension(name, self.rows)?);
        }
        let dimensions: HashSet<&String> = dimensions.iter().collect();
        for (name, guess) in self.columns.iter().filter(|(name, _)| !dimensions.contains(name)) {
            builder = builder.attribute(guess.attribute(name, self.rows));
        }
        builder.build().map_err(|error| Failure::usage(error.to_string()).with_hint("give a --schema"))
    }
}

impl Guess {
    fn add(&mut self, entry: Entry<'_>, null: &str) {
        let content = match entry {
            Entry::Text(text) if text == null => return,
            Entry::Text(text) => Some(Content::of_text(text)),
            Entry::Json(Value::Null) => return,
            Entry::Json(value) => Content::of_json(value),
        };
        self.present += 1;
        let content = content.unwrap_or(Content::Text);
        self.content = Some(self.content.map_or(content, |known| known.and(content)));
        let number = match entry {
            Entry::Text(text) => text.parse().ok(),
            Entry::Json(value) => value.as_i64().map(i128::from).or(value.as_u64().map(i128::from)),
        };
        if let Some(number) = number {
            self.low = Some(self.low.map_or(number, |low| low.min(number)));
            self.high = Some(self.high.map_or(number, |high| high.max(number)));
        }
    }

    fn datatype(&self) -> (Datatype, CellValNum) {
        let is_unsigned = self.low.is_some_and(|low| low >= 0) && self.high > Some(i128::from(i64::MAX));
        let fits = self.low >= Some(i128::from(i64::MIN)) && self.high <= Some(i128::from(u64::MAX));
        let integer = match (is_unsigned, fits && (is_unsigned || self.high <= Some(i128::from(i64::MAX)))) {
            (_, false) => Datatype::Float64,
            (true, _) => Datatype::UInt64,
            (false, _) => Datatype::Int64,
        };
        match self.content {
            Some(Content::Bool) => (Datatype::Bool, CellValNum::ONE),
            Some(Content::Integer) => (integer, CellValNum::ONE),
            Some(Content::Float) => (Datatype::Float64, CellValNum::ONE),
            Some(Content::Integers) => (Datatype::Int64, CellValNum::Var),
            Some(Content::Floats) => (Datatype::Float64, CellValNum::Var),
            Some(Content::Day) => (Datatype::DatetimeDay, CellValNum::ONE),
            Some(Content::Moment(digits)) => (moment(digits), CellValNum::ONE),
            Some(Content::Text) | None => (Datatype::StringUtf8, CellValNum::Var),
        }
    }

    fn attribute(&self, name: &str, rows: u64) -> Attribute {
        let (datatype, number) = self.datatype();
        let attribute = Attribute::new(name, datatype).with_cell_val_num(number);
        let attribute =
            attribute.with_filters(FilterPipeline::new(vec![Filter::Zstd { level: Filter::DEFAULT_LEVEL }]));
        // What is null holds the fill value, and none that were written.
        if self.present < rows { attribute.nullable(false) } else { attribute }
    }

    /// A dimension whose domain has room for whatever comes later, in tiles that suit what is there now.
    fn dimension(&self, name: &str, rows: u64) -> Result<Dimension> {
        if self.present < rows {
            let empty = rows - self.present;
            return Err(Failure::usage(format!("column {name:?} can't be a dimension: it is empty in {empty} rows")));
        }
        let extent =
            |low: i128, high: i128| i64::try_from((high - low) / 100 + 1).unwrap_or(i64::MAX >> 8).min(1 << 40);
        match (self.datatype(), self.low, self.high) {
            ((Datatype::StringUtf8, _), ..) => Ok(Dimension::string(name)),
            ((Datatype::Int64, CellValNum::ONE), Some(low), Some(high)) => {
                let extent = extent(low, high);
                let domain = (Scalar::I64(i64::MIN), Scalar::I64(i64::MAX - extent));
                Ok(Dimension::new(name, Datatype::Int64, domain.0, domain.1).with_tile_extent(Scalar::I64(extent)))
            }
            ((Datatype::UInt64, _), Some(low), Some(high)) => {
                let extent = extent(low, high).unsigned_abs();
                let domain = (Scalar::U64(0), Scalar::U64(u64::MAX - extent));
                Ok(Dimension::new(name, Datatype::UInt64, domain.0, domain.1).with_tile_extent(Scalar::U64(extent)))
            }
            ((Datatype::Float64, CellValNum::ONE), ..) => {
                Ok(Dimension::new(name, Datatype::Float64, Scalar::F64(f64::MIN), Scalar::F64(f64::MAX)))
            }
            ((datatype, CellValNum::ONE), ..) if datatype.is_datetime() => {
                // The least value is no date.
                Ok(Dimension::new(name, datatype, Scalar::I64(i64::MIN + 1), Scalar::I64(i64::MAX - 1)))
            }
            _ => Err(Failure::usage(format!(
                "column {name:?} can't be a dimension: it holds neither numbers, nor dates, nor text"
            ))),
        }
    }
}

/// The coarsest unit that holds so many digits of seconds.
fn moment(digits: usize) -> Datatype {
    match digits {
        0 => Datatype::DatetimeSec,
        1..=3 => Datatype::DatetimeMs,
        4..=6 => Datatype::DatetimeUs,
        _ => Datatype::DatetimeNs,
    }
}
