//! Aggregate functions of a field's values.

use std::fmt;

/// An aggregate of a query's cells. The text form, such as `mean(quality)`, is the column name.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    function: AggregateFunction,
    field: Option<String>,
}

/// An aggregate function. Null cells count only for [`NullCount`](Self::NullCount) and for counts
/// of cells.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AggregateFunction {
    /// The number of cells, or of a field's values: `uint64`.
    Count,
    /// The number of null cells: `uint64`.
    NullCount,
    /// The sum of numbers: `int64`, `uint64` or `float64`. On overflow, the maximum of the type, or
    /// null if the field is nullable. Without values, 0, or null if the field is nullable.
    Sum,
    /// The mean of numbers: `float64`. For dates and times, the mean has the field's type and is
    /// rounded down to the unit. Null without values.
    Mean,
    /// The minimum, of the field's type. NaNs are ignored unless all values are NaN. Null without
    /// values.
    Min,
    /// The maximum, of the field's type, with nulls and NaNs as in [`Min`](Self::Min).
    Max,
    /// The number of distinct values: `uint64`. All NaNs count as a single value. `-0.0` and `0.0`
    /// also count as a single value.
    CountDistinct,
    /// The quantile for a fraction from 0 to 1, of the field's type. The quantile is the smallest
    /// value such that at least this fraction of all values is less than or equal to it. NaNs are
    /// ordered after all other values. Null without values.
    Quantile(f64),
}

impl Aggregate {
    fn of(function: AggregateFunction, field: impl Into<String>) -> Self {
        Self { function, field: Some(field.into()) }
    }

    /// Counts cells.
    #[must_use]
    pub fn count() -> Self {
        Self { function: AggregateFunction::Count, field: None }
    }

    /// Counts the non-null values of a field.
    #[must_use]
    pub fn count_of(field: impl Into<String>) -> Self {
        Self::of(AggregateFunction::Count, field)
    }

    /// Counts the null cells of a field.
    #[must_use]
    pub fn null_count(field: impl Into<String>) -> Self {
        Self::of(AggregateFunction::NullCount, field)
    }

    /// Computes the [sum](AggregateFunction::Sum) of a field's values.
    #[must_use]
    pub fn sum(field: impl Into<String>) -> Self {
        Self::of(AggregateFunction::Sum, field)
    }

    /// Computes the [mean](AggregateFunction::Mean) of a field's values.
    #[must_use]
    pub fn mean(field: impl Into<String>) -> Self {
        Self::of(AggregateFunction::Mean, field)
    }

    /// Computes the [minimum](AggregateFunction::Min) of a field's values.
    #[must_use]
    pub fn min(field: impl Into<String>) -> Self {
        Self::of(AggregateFunction::Min, field)
    }

    /// Computes the [maximum](AggregateFunction::Max) of a field's values.
    #[must_use]
    pub fn max(field: impl Into<String>) -> Self {
        Self::of(AggregateFunction::Max, field)
    }

    /// Computes the [distinct count](AggregateFunction::CountDistinct) of a field's values.
    #[must_use]
    pub fn count_distinct(field: impl Into<String>) -> Self {
        Self::of(AggregateFunction::CountDistinct, field)
    }

    /// Computes a [quantile](AggregateFunction::Quantile) of a field's values. 0.5 is the median.
    #[must_use]
    pub fn quantile(field: impl Into<String>, part: f64) -> Self {
        Self::of(AggregateFunction::Quantile(part), field)
    }

    /// Computes the median of a field's values. For an even number of values, the lower of the two
    /// middle values.
    #[must_use]
    pub fn median(field: impl Into<String>) -> Self {
        Self::quantile(field, 0.5)
    }

    /// Returns the function.
    #[must_use]
    pub fn function(&self) -> AggregateFunction {
        self.function
    }

    /// Returns the name of the field. `None` for a count of cells.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// Returns `true` if the function needs ordered values.
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
