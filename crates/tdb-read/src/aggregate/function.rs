//! What can be computed of a field's values.

use std::fmt;

/// Something to be computed of a query's cells. It is written as `mean(quality)`, which is the name of its column.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    function: AggregateFunction,
    field: Option<String>,
}

/// What is computed. Null cells count in nothing but [`NullCount`](Self::NullCount), and in counts of cells.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AggregateFunction {
    /// How many cells there are, or how many values of a field: `uint64`.
    Count,
    /// How many cells are null: `uint64`.
    NullCount,
    /// The sum of numbers: `int64`, `uint64` or `float64`. One that doesn't fit is the greatest value of the type, or null
    /// if the field may be null.
    Sum,
    /// The mean of numbers: `float64`; of dates and times one of the field's type, rounded down to its unit. Null if there are no
    /// values.
    Mean,
    /// The least value: of the field's type. NaNs are left out unless there is nothing else. Null if there are no values.
    Min,
    /// The greatest value: of the field's type, as [`Min`](Self::Min).
    Max,
    /// How many values differ: `uint64`. NaNs are one value, and so are `-0.0` and `0.0`.
    CountDistinct,
    /// The least value that at least this part of all values, from 0 to 1, are no greater than: of the field's type, and one of the values.
    /// NaNs come after all other values. Null if there are no values.
    Quantile(f64),
}

impl Aggregate {
    fn of(function: AggregateFunction, field: impl Into<String>) -> Self {
        Self { function, field: Some(field.into()) }
    }

    /// How many cells there are.
    #[must_use]
    pub fn count() -> Self {
        Self { function: AggregateFunction::Count, field: None }
    }

    /// How many values a field has that aren't null.
    #[must_use]
    pub fn count_of(field: impl Into<String>) -> Self {
        Self::of(AggregateFunction::Count, field)
    }

    /// How many cells of a field are null.
    #[must_use]
    pub fn null_count(field: impl Into<String>) -> Self {
        Self::of(AggregateFunction::NullCount, field)
    }

    /// The [sum](AggregateFunction::Sum) of a field's values.
    #[must_use]
    pub fn sum(field: impl Into<String>) -> Self {
        Self::of(AggregateFunction::Sum, field)
    }

    /// The [mean](AggregateFunction::Mean) of a field's values.
    #[must_use]
    pub fn mean(field: impl Into<String>) -> Self {
        Self::of(AggregateFunction::Mean, field)
    }

    /// The [least](AggregateFunction::Min) of a field's values.
    #[must_use]
    pub fn min(field: impl Into<String>) -> Self {
        Self::of(AggregateFunction::Min, field)
    }

    /// The [greatest](AggregateFunction::Max) of a field's values.
    #[must_use]
    pub fn max(field: impl Into<String>) -> Self {
        Self::of(AggregateFunction::Max, field)
    }

    /// How many of a field's values [differ](AggregateFunction::CountDistinct).
    #[must_use]
    pub fn count_distinct(field: impl Into<String>) -> Self {
        Self::of(AggregateFunction::CountDistinct, field)
    }

    /// A [quantile](AggregateFunction::Quantile) of a field's values: 0.5 is the median.
    #[must_use]
    pub fn quantile(field: impl Into<String>, part: f64) -> Self {
        Self::of(AggregateFunction::Quantile(part), field)
    }

    /// The median of a field's values: of an even number of them the lower of the two in the middle.
    #[must_use]
    pub fn median(field: impl Into<String>) -> Self {
        Self::quantile(field, 0.5)
    }

    /// What is computed.
    #[must_use]
    pub fn function(&self) -> AggregateFunction {
        self.function
    }

    /// The field of whose values it is; `None` if it is of cells.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// Whether it takes the field's values in order, and not just a look at each.
    pub(super) fn needs_order(&self) -> bool {
        matches!(self.function, AggregateFunction::CountDistinct | AggregateFunction::Quantile(_))
    }
}

impl fmt::Display for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = self.field.as_deref().unwrap_or_default();
        match (self.function, &self.field) {
            (AggregateFunction::Count, None) => f.write_str("count"),
            (AggregateFunction::Count, Some(_)) => write!(f, "count({field})"),
            (AggregateFunction::NullCount, _) => write!(f, "null_count({field})"),
            (AggregateFunction::Sum, _) => write!(f, "sum({field})"),
            (AggregateFunction::Mean, _) => write!(f, "mean({field})"),
            (AggregateFunction::Min, _) => write!(f, "min({field})"),
            (AggregateFunction::Max, _) => write!(f, "max({field})"),
            (AggregateFunction::CountDistinct, _) => write!(f, "count_distinct({field})"),
            (AggregateFunction::Quantile(part), _) => write!(f, "quantile({field}, {part})"),
        }
    }
}
