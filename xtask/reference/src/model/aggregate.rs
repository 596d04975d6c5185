//! Aggregates of reads.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An aggregate: a function of the cells of a read, or of the values of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AggregateSpec {
    pub function: AggregateFunction,
    /// `None` for the count of cells.
    pub field: Option<String>,
}

/// The library's aggregate functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AggregateFunction {
    /// The number of cells, without a field.
    Count,
    Sum,
    Min,
    Max,
    Mean,
    NullCount,
}

impl AggregateSpec {
    /// Creates a count of cells.
    pub fn count() -> Self {
        Self { function: AggregateFunction::Count, field: None }
    }

    /// Returns the field, or `None` for a count of cells.
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// Creates an aggregate of a field.
    pub fn of(function: AggregateFunction, field: &str) -> Self {
        Self { function, field: Some(field.to_owned()) }
    }
}

impl fmt::Display for AggregateSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.function {
            AggregateFunction::Count => "count",
            AggregateFunction::Sum => "sum",
            AggregateFunction::Min => "min",
            AggregateFunction::Max => "max",
            AggregateFunction::Mean => "mean",
            AggregateFunction::NullCount => "null_count",
        };
        match &self.field {
            Some(field) => write!(f, "{name}({field})"),
            None => f.write_str(name),
        }
    }
}
