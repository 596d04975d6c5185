//! Columns that are converted because a person says so: `--type NAME=TYPE`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tdb_arrow::arrow_array::cast::AsArray;
use tdb_arrow::arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type,
};
use tdb_arrow::arrow_array::{
    Array, ArrayRef, Float32Array, Float64Array, Int64Array, PrimitiveArray, RecordBatch, StringArray, UInt64Array,
};
use tdb_arrow::arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use tdb_arrow::tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_arrow::{DATATYPE_KEY, ROLE_KEY, VALUES_KEY, cells_of};
use tdb_cli::{Failure, Result};

/// The types of columns, by their names.
#[derive(Clone, Debug)]
pub(super) struct Casts(Vec<(String, Datatype)>);

/// Rows of a batch that can't be converted, and why.
pub(super) type Rejected = BTreeMap<usize, String>;

impl Casts {
    pub(super) fn new(types: Vec<(String, Datatype)>) -> Self {
        Self(types)
    }

    fn of(&self, name: &str) -> Option<Datatype> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, datatype)| *datatype)
    }

    /// The columns of a file as they are once they are converted.
    ///
    /// # Errors
    /// There is no such column, or it can't be converted.
    pub(super) fn schema(&self, path: &Path, schema: &SchemaRef) -> Result<SchemaRef> {
        if let Some((name, _)) = self.0.iter().find(|(name, _)| schema.column_with_name(name).is_none()) {
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            return Err(Failure::usage(format!("{}: --type {name}: no column is called {name:?}", path.display()))
                .with_hint(format!("the columns are {}", names.join(", "))));
        }
        let field = |field: &Arc<Field>| match self.of(field.name()) {
            None => Ok(Arc::clone(field)),
            Some(datatype) => retyped(field, datatype).map(Arc::new).ok_or_else(|| {
                let (name, data_type) = (field.name(), field.data_type());
                let why = format!("{}: column {name:?} of {data_type} can't become {datatype}", path.display());
                Failure::usage(why).with_hint("docs/arrow.md says what becomes of which type")
            }),
        };
        let fields: Vec<Arc<Field>> = schema.fields().iter().map(field).collect::<Result<_>>()?;
        Ok(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())))
    }

    /// The batch with its columns converted. Those rows that can't be are null.
    ///
    /// # Errors
    /// The batch isn't one of the file's columns.
    pub(super) fn apply(&self, batch: RecordBatch) -> std::result::Result<(RecordBatch, Rejected), ArrowError> {
        let mut rejected = Rejected::new();
        if self.0.is_empty() {
            return Ok((batch, rejected));
        }
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            let retyped = self.of(field.name()).and_then(|datatype| Some((retyped(field, datatype)?, datatype)));
            let (field, column) = match retyped {
                None => (Arc::clone(field), Arc::clone(column)),
                Some((field, datatype)) => {
                    let column = converted(column, &field, datatype, &mut rejected);
                    (Arc::new(field.with_nullable(true)), column)
                }
            };
            fields.push(field);
            columns.push(column);
        }
        Ok((RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?, rejected))
    }
}

/// Whether values of a type are taken only if a person says as what.
pub(super) fn is_castable(data_type: &DataType) -> bool {
    data_type.is_decimal() || *data_type == DataType::Float16
}

/// The field as an array holds it if it is of this datatype; none if its values can't become that.
fn retyped(field: &Field, datatype: Datatype) -> Option<Field> {
    let is_text = datatype.is_string() || datatype.is_bytes() || datatype == Datatype::Char;
    let data_type = match field.data_type() {
        DataType::Float16 if datatype.is_float() => DataType::Float32,
        data_type if data_type.is_decimal() => match datatype {
            Datatype::Float32 => DataType::Float32,
            Datatype::Float64 => DataType::Float64,
            Datatype::UInt64 => DataType::UInt64,
            _ if is_text && datatype.size() == 1 => DataType::Utf8,
            _ => DataType::Int64,
        },
        other => other.clone(),
    };
    let number = if is_text { CellValNum::Var } else { CellValNum::ONE };
    let said =
        [(ROLE_KEY, "attribute"), (DATATYPE_KEY, datatype.name()), (VALUES_KEY, if is_text { "var" } else { "1" })];
    let metadata = said.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let field = field.clone().with_data_type(data_type).with_metadata(metadata);
    (cells_of(&field).ok() == Some((datatype, number))).then_some(field)
}

fn converted(column: &ArrayRef, to: &Field, datatype: Datatype, rejected: &mut Rejected) -> ArrayRef {
    match column.data_type() {
        DataType::Float16 => {
            let values = column.as_primitive::<Float16Type>().iter();
            Arc::new(values.map(|value| value.map(f32::from)).collect::<Float32Array>())
        }
        DataType::Decimal32(..) => decimals(column.as_primitive::<Decimal32Type>(), to, datatype, rejected),
        DataType::Decimal64(..) => decimals(column.as_primitive::<Decimal64Type>(), to, datatype, rejected),
        DataType::Decimal128(..) => decimals(column.as_primitive::<Decimal128Type>(), to, datatype, rejected),
        DataType::Decimal256(..) => decimals(column.as_primitive::<Decimal256Type>(), to, datatype, rejected),
        _ => Arc::clone(column),
    }
}

fn decimals<T: DecimalType>(
    column: &PrimitiveArray<T>,
    to: &Field,
    datatype: Datatype,
    rejected: &mut Rejected,
) -> ArrayRef {
    let texts = (0..column.len()).map(|row| column.is_valid(row).then(|| column.value_as_string(row)));
    let mut each = texts.enumerate();
    let mut reject = |row: usize, text: &str| {
        let why = format!("{}: {text} is no {datatype} without rounding", to.name());
        rejected.entry(row).or_insert(why);
    };
    macro_rules! numbers {
        ($array:ty, $parse:expr) => {{
            let number = |(row, text): (usize, Option<String>)| {
                let text = text?;
                let number = $parse(&text);
                if number.is_none() {
                    reject(row, &text);
                }
                number
            };
            Arc::new(each.map(number).collect::<$array>())
        }};
    }
    match to.data_type() {
        DataType::Float32 => numbers!(Float32Array, |text: &str| same_digits(text, text.parse::<f32>().ok()?)),
        DataType::Float64 => numbers!(Float64Array, |text: &str| same_digits(text, text.parse::<f64>().ok()?)),
        DataType::UInt64 => numbers!(UInt64Array, |text: &str| whole(text)?.parse().ok()),
        DataType::Int64 => numbers!(Int64Array, |text: &str| whole(text)?.parse().ok()),
        _ => Arc::new(each.by_ref().map(|(_, text)| text).collect::<StringArray>()),
    }
}

/// The float next to a decimal, if rounding it to the digits of the decimal gives that again.
fn same_digits<T: std::fmt::Display>(text: &str, float: T) -> Option<T> {
    let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    (format!("{float:.digits$}") == text).then_some(float)
}

/// The digits of a decimal that is a whole number.
fn whole(text: &str) -> Option<&str> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    fraction.bytes().all(|digit| digit == b'0').then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_become_numbers_that_are_the_same() {
        assert_eq!(same_digits("19.99", 19.99_f64), Some(19.99));
        assert_eq!(same_digits("-0.10", -0.1_f32), Some(-0.1));
        assert_eq!(same_digits("9007199254740993", 9_007_199_254_740_993_f64), None);
        assert_eq!(same_digits("16777217.00", 16_777_217_f32), None);
        assert_eq!((whole("12.00"), whole("12"), whole("12.50")), (Some("12"), Some("12"), None));
    }
}
