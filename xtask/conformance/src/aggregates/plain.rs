//! A plain implementation of aggregates over cells.

use std::cmp::Ordering;

use tdb_cases::scalars::type_limits;
use tdb_cases::values::Kind;
use tdb_reference::model::{AggregateFunction, Column};
use tdb_types::{PhysicalType, Scalar};

/// The values of a field.
pub struct Values {
    pub kind: Kind,
    /// Each value and how often it counts.
    values: Vec<(Vec<u8>, u64)>,
    nulls: u64,
}

/// The result of an aggregate function.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Null,
    Count(u64),
    Integer(i128),
    Float(f64),
    Value(Vec<u8>),
}

/// A sum, and how far it depends on the order of the values.
pub enum Sum {
    /// An exact sum. `passes` is `true` if some order of the values overflows the result type on
    /// the way.
    Integer { sum: i128, passes: bool },
    /// An IEEE sum. `special` is `true` if a value is infinite or NaN. `passes` is `true` if some
    /// order of the finite values overflows a double on the way. `tolerance` is the largest
    /// rounding error.
    Float { sum: f64, special: bool, passes: bool, tolerance: f64 },
}

impl Values {
    /// Collects the values of a column. Cell `i` counts `times[i]` times, and `times` has an entry
    /// for each cell.
    pub fn new(kind: Kind, column: &Column, times: &[u64]) -> Self {
        let cells = times.len();
        let (mut values, mut nulls) = (Vec::new(), 0);
        for (cell, times) in times.iter().enumerate().filter(|(_, times)| **times > 0) {
            match column.is_valid(cell) {
                true => values.push((column.cell(cells, cell).to_vec(), *times)),
                false => nulls += times,
            }
        }
        Self { kind, values, nulls }
    }

    /// Replaces "no time" by null.
    pub fn without_no_time(mut self) -> Self {
        let Kind { datatype, cell_val_num, .. } = self.kind;
        if cell_val_num == Some(1) && (datatype.is_datetime() || datatype.is_time()) {
            let nulls = self.values.extract_if(.., |(value, _)| *value == i64::MIN.to_le_bytes());
            self.nulls += nulls.map(|(_, times)| times).sum::<u64>();
        }
        self
    }

    pub fn count(&self) -> u64 {
        self.values.iter().map(|(_, times)| times).sum()
    }

    pub fn has_nan(&self) -> bool {
        self.values.iter().any(|(value, _)| self.kind.is_nan(value))
    }

    /// `true` if a string contains a zero byte.
    pub fn has_zero_bytes(&self) -> bool {
        !self.kind.is_number() && self.values.iter().any(|(value, _)| value.contains(&0))
    }

    /// `true` if the answer is the sum divided by a count from the number of values up to `most`.
    #[allow(clippy::cast_precision_loss)] // a mean is a double
    pub fn is_mean_of_more(&self, function: AggregateFunction, answer: &Answer, most: u64) -> bool {
        let Answer::Float(mean) = answer else { return false };
        let sum = match self.sum() {
            Sum::Integer { sum, passes: false } => sum as f64,
            Sum::Float { sum, special: false, passes: false, .. } => sum,
            _ => return false,
        };
        let count = sum / mean;
        let (least, most) = (self.count() as f64, most as f64);
        let is_whole = (count - count.round()).abs() <= count.abs() * 1e-9;
        function == AggregateFunction::Mean && is_whole && (least..=most).contains(&count.round())
    }

    /// `true` if a number is the minimum or maximum of the datatype. The library's search starts
    /// with this value.
    fn is_end(&self, value: &[u8]) -> bool {
        let physical = self.kind.datatype.physical();
        self.kind.number(value).is_some_and(|number| match number.to_integer() {
            Some(number) => [type_limits(physical).0, type_limits(physical).1].contains(&number),
            None => !number.to_f64().is_finite() || number.to_f64().abs() >= f64::from(f32::MAX),
        })
    }

    /// `true` if the answer is a placeholder that is stored for null.
    pub fn is_zero_of_nulls(&self, answer: &Answer) -> bool {
        let is_zero = match answer {
            Answer::Integer(sum) => *sum == 0,
            Answer::Float(sum) => *sum == 0.0,
            Answer::Value(value) => value.iter().all(|byte| *byte == 0) || self.is_end(value),
            Answer::Null | Answer::Count(_) => false,
        };
        is_zero && self.nulls > 0
    }

    /// `true` if one of the values equals `value`.
    pub fn has(&self, value: &[u8]) -> bool {
        self.values.iter().any(|(known, _)| self.kind.compare(known, value) == Ordering::Equal)
    }

    /// Returns the answer that tdb must give. A sum that overflows is null or the maximum.
    pub fn answer(&self, function: AggregateFunction) -> Answer {
        let values = self.values.iter().map(|(value, _)| value);
        let comparable = || values.clone().filter(|value| !self.kind.is_nan(value));
        let first = values.clone().next();
        let value = |value: Option<&Vec<u8>>| value.cloned().map_or(Answer::Null, Answer::Value);
        match function {
            AggregateFunction::Count => Answer::Count(self.count()),
            AggregateFunction::NullCount => Answer::Count(self.nulls),
            AggregateFunction::Min => value(comparable().min_by(|a, b| self.kind.compare(a, b)).or(first)),
            AggregateFunction::Max => value(comparable().max_by(|a, b| self.kind.compare(a, b)).or(first)),
            AggregateFunction::Sum if self.values.is_empty() && self.kind.nullable => Answer::Null,
            AggregateFunction::Sum => match self.sum() {
                Sum::Integer { sum, .. } => self.kept(sum),
                Sum::Float { sum, .. } => Answer::Float(sum),
            },
            AggregateFunction::Mean if self.values.is_empty() => Answer::Null,
            AggregateFunction::Mean => Answer::Float(self.mean()),
        }
    }

    fn kept(&self, sum: i128) -> Answer {
        let (least, most) = self.range();
        match (least..=most).contains(&sum) {
            true => Answer::Integer(sum),
            false if self.kind.nullable => Answer::Null,
            false => Answer::Integer(most),
        }
    }

    /// Returns the range of the result type of an integer sum.
    fn range(&self) -> (i128, i128) {
        match self.kind.datatype.physical().is_signed_integer() {
            true => (i64::MIN.into(), i64::MAX.into()),
            false => (0, u64::MAX.into()),
        }
    }

    /// Returns the answer for a sum that overflows.
    pub fn most(&self) -> Answer {
        if self.kind.is_float() { Answer::Float(f64::MAX) } else { Answer::Integer(self.range().1) }
    }

    pub fn sum(&self) -> Sum {
        let numbers = self.values.iter().filter_map(|(value, times)| Some((self.kind.number(value)?, *times)));
        if self.kind.is_float() {
            #[allow(clippy::cast_precision_loss)] // a rough figure
            let floats = || numbers.clone().map(|(number, times)| (number.to_f64(), times as f64));
            let magnitude: f64 = floats().map(|(number, times)| number.abs() * times).sum();
            // Infinities and NaNs determine the sum, for any finite values.
            let special = floats().map(|(number, _)| number).filter(|number| !number.is_finite());
            let special = special.reduce(|sum, number| sum + number);
            let sum = special.unwrap_or_else(|| floats().map(|(number, times)| number * times).sum());
            let (special, passes) = (special.is_some(), special.is_none() && magnitude.is_infinite());
            return Sum::Float { sum, special, passes, tolerance: magnitude * 1e-12 };
        }
        let products = numbers.map(|(number, times)| number.to_integer().unwrap_or(0) * i128::from(times));
        let ends = |up: bool| products.clone().filter(move |product| (*product > 0) == up).sum::<i128>();
        let (low, high) = (ends(false), ends(true));
        let (least, most) = self.range();
        Sum::Integer { sum: low + high, passes: low < least || high > most }
    }

    #[allow(clippy::cast_precision_loss)] // a mean is a double
    fn mean(&self) -> f64 {
        let count = self.count();
        match self.sum() {
            Sum::Float { sum, .. } => sum / count as f64,
            Sum::Integer { sum, .. } => {
                let count = i128::from(count);
                (sum / count) as f64 + (sum % count) as f64 / count as f64
            }
        }
    }

    /// Returns the largest rounding error of a mean.
    #[allow(clippy::cast_precision_loss)] // a rough figure
    fn mean_tolerance(&self) -> f64 {
        let absolute = |value: &[u8]| self.kind.number(value).map_or(0.0, |number| number.to_f64().abs());
        let count = self.count().max(1) as f64;
        self.values.iter().map(|(value, times)| absolute(value) / count * *times as f64).sum::<f64>() * 1e-12
    }

    /// `true` if two answers are equal up to rounding. Zeros of either sign are equal, and so are
    /// all NaNs.
    pub fn are_same(&self, function: AggregateFunction, a: &Answer, b: &Answer) -> bool {
        match (a, b) {
            (Answer::Float(a), Answer::Float(b)) => {
                let tolerance = match (function, self.sum()) {
                    (AggregateFunction::Sum, Sum::Float { tolerance, .. }) => tolerance,
                    // tdb rounds the mean of dates and times down to their unit.
                    _ if self.kind.datatype.is_datetime() || self.kind.datatype.is_time() => {
                        1.0 + self.mean_tolerance()
                    }
                    _ => self.mean_tolerance(),
                };
                let is_near = tolerance.is_finite() && (a - b).abs() <= tolerance;
                a == b || a.is_nan() && b.is_nan() || is_near
            }
            (Answer::Value(a), Answer::Value(b)) => self.kind.compare(a, b) == Ordering::Equal,
            _ => a == b,
        }
    }

    /// Parses the bytes that the library returned for an aggregate.
    pub fn parse(&self, function: AggregateFunction, bytes: Option<&[u8]>) -> Option<Answer> {
        let Some(bytes) = bytes else { return Some(Answer::Null) };
        let scalar = |physical| Scalar::from_le_bytes(physical, bytes);
        match function {
            AggregateFunction::Min | AggregateFunction::Max => Some(Answer::Value(bytes.to_vec())),
            AggregateFunction::Count | AggregateFunction::NullCount => {
                scalar(PhysicalType::U64)?.to_integer()?.try_into().ok().map(Answer::Count)
            }
            AggregateFunction::Mean => scalar(PhysicalType::F64).map(|mean| Answer::Float(mean.to_f64())),
            AggregateFunction::Sum if self.kind.is_float() => {
                scalar(PhysicalType::F64).map(|sum| Answer::Float(sum.to_f64()))
            }
            AggregateFunction::Sum => {
                let signed = self.kind.datatype.physical().is_signed_integer();
                let physical = if signed { PhysicalType::I64 } else { PhysicalType::U64 };
                scalar(physical)?.to_integer().map(Answer::Integer)
            }
        }
    }
}
