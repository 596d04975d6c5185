//! Record batches as printable rows.

mod json;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::{cast, max, min};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Int64Type, Schema};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::ArrayFormatter;
use tdb_cli::{Exit, Failure, Result, RowColumn, Rows};

use json::{Form, OPTIONS};

/// Returns the columns of a schema.
pub(crate) fn columns(schema: &Schema) -> Vec<RowColumn> {
    schema.fields().iter().map(|field| RowColumn::new(field.name(), is_number(field))).collect()
}

fn is_number(field: &Field) -> bool {
    match field.data_type() {
        DataType::Dictionary(_, values) => values.is_numeric(),
        datatype => datatype.is_numeric(),
    }
}

/// The columns of a record batch. Dictionaries are replaced by their values.
pub(crate) struct Values(Vec<ArrayRef>, usize);

impl Values {
    /// Converts the columns of a batch.
    ///
    /// # Errors
    /// A dictionary key is out of range.
    pub(crate) fn of(batch: &RecordBatch) -> Result<Self, ArrowError> {
        let column = |column: &ArrayRef| match column.data_type() {
            DataType::Dictionary(_, values) => cast(column, values),
            _ => Ok(column.clone()),
        };
        Ok(Self(batch.columns().iter().map(column).collect::<Result<_, _>>()?, batch.num_rows()))
    }

    /// Checks that all dates and times can be formatted.
    ///
    /// # Errors
    /// A year is outside of the supported range.
    pub(crate) fn check(&self, schema: &Schema) -> Result<()> {
        let unwritten = |(field, column): (&FieldRef, &ArrayRef)| Some((field.name().clone(), without_text(column)?));
        match schema.fields().iter().zip(&self.0).find_map(unwritten) {
            None => Ok(()),
            Some((name, number)) => {
                let message = format!("column {name:?}: the date or time {number} has no text form");
                Err(Failure::new(Exit::Unsupported, message).with_hint("use CAST(… AS BIGINT) to read the number"))
            }
        }
    }
}

/// Returns a date or time that cannot be formatted. Checks the minimum and the maximum, because
/// others are in between.
fn without_text(column: &ArrayRef) -> Option<i64> {
    let of_items = match column.data_type() {
        DataType::List(_) => Some(column.as_list::<i32>().values()),
        DataType::LargeList(_) => Some(column.as_list::<i64>().values()),
        DataType::FixedSizeList(..) => Some(column.as_fixed_size_list().values()),
        _ => None,
    };
    if let Some(items) = of_items {
        return without_text(items);
    }
    if let Some(parts) = column.as_struct_opt() {
        return parts.columns().iter().find_map(without_text);
    }
    if !column.data_type().is_temporal() {
        return None;
    }
    let numbers = cast(column, &DataType::Int64).ok()?;
    let numbers = numbers.as_primitive::<Int64Type>();
    let formatter = ArrayFormatter::try_new(column.as_ref(), &OPTIONS).ok()?;
    let ends = [min(numbers), max(numbers)].into_iter().flatten();
    let place = |end: &i64| numbers.iter().position(|number| number == Some(*end));
    ends.into_iter().find(|end| place(end).is_some_and(|row| formatter.value(row).try_to_string().is_err()))
}

/// Columns as rows.
pub(crate) struct BatchRows<'a> {
    values: &'a Values,
    formatters: Vec<(ArrayFormatter<'a>, Form)>,
}

impl<'a> BatchRows<'a> {
    /// Creates the formatters.
    ///
    /// # Errors
    /// A type has no text format.
    pub(crate) fn new(values: &'a Values) -> Result<Self, ArrowError> {
        let formatter = |column: &'a ArrayRef| -> Result<_, ArrowError> {
            Ok((ArrayFormatter::try_new(column.as_ref(), &OPTIONS)?, Form::of(column.data_type())))
        };
        let formatters = values.0.iter().map(formatter).collect::<Result<_, _>>()?;
        Ok(Self { values, formatters })
    }

    fn is_null(&self, column: usize, row: usize) -> bool {
        json::is_null(self.values.0[column].as_ref(), row)
    }
}

impl Rows for BatchRows<'_> {
    fn len(&self) -> usize {
        self.values.1
    }

    fn text(&self, column: usize, row: usize) -> Option<String> {
        (!self.is_null(column, row)).then(|| self.formatters[column].0.value(row).to_string())
    }

    fn json(&self, column: usize, row: usize, out: &mut String) {
        let array = self.values.0[column].as_ref();
        let (formatter, form) = &self.formatters[column];
        if json::is_null(array, row) {
            out.push_str("null");
            return;
        }
        match form {
            Form::Plain => out.push_str(&formatter.value(row).to_string()),
            Form::Quoted => json::push_string(&formatter.value(row).to_string(), out),
            Form::Composed => json::push(array, row, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{
        BinaryArray, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int8Array, Int64Array, ListArray,
        NullArray, StringArray, StructArray, TimestampMillisecondArray, TimestampSecondArray,
    };
    use datafusion::arrow::datatypes::{Int8Type, Int32Type, Time64MicrosecondType};

    use super::*;

    fn shown(array: ArrayRef) -> Vec<(Option<String>, String)> {
        let batch = RecordBatch::try_from_iter_with_nullable([("a", array, true)]).unwrap();
        let values = Values::of(&batch).unwrap();
        let rows = BatchRows::new(&values).unwrap();
        let one = |row| {
            let mut json = String::new();
            rows.json(0, row, &mut json);
            (rows.text(0, row), json)
        };
        (0..rows.len()).map(one).collect()
    }

    fn is(array: ArrayRef, expected: &[(&str, &str)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(text, json)| ((*json != "null").then(|| (*text).to_owned()), (*json).to_owned()))
            .collect();
        assert_eq!(shown(array), expected);
    }

    #[test]
    fn numbers_and_booleans_are_plain() {
        is(
            Arc::new(Int64Array::from(vec![Some(i64::MIN), None])),
            &[("-9223372036854775808", "-9223372036854775808"), ("", "null")],
        );
        is(Arc::new(BooleanArray::from(vec![true, false])), &[("true", "true"), ("false", "false")]);
        let floats = vec![1.5, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300];
        is(
            Arc::new(Float64Array::from(floats)),
            &[
                ("1.5", "1.5"),
                ("-0.0", "-0.0"),
                ("NaN", "\"NaN\""),
                ("inf", "\"inf\""),
                ("-inf", "\"-inf\""),
                ("1e300", "1e300"),
            ],
        );
        is(Arc::new(Float32Array::from(vec![0.1])), &[("0.1", "0.1")]);
    }

    #[test]
    fn text_is_quoted() {
        is(
            Arc::new(StringArray::from(vec![Some("a\"\\\n\u{1}é"), Some(""), None])),
            &[("a\"\\\n\u{1}é", r#""a\"\\\n\u0001é""#), ("", r#""""#), ("", "null")],
        );
        is(Arc::new(BinaryArray::from(vec![b"\xff\x00".as_slice()])), &[("ff00", "\"ff00\"")]);
        is(Arc::new(TimestampMillisecondArray::from(vec![0])), &[("1970-01-01T00:00:00", "\"1970-01-01T00:00:00\"")]);
        is(Arc::new(NullArray::new(1)), &[("", "null")]);
    }

    #[test]
    fn times_without_a_text_are_found() {
        let times = |times: Vec<Option<i64>>| -> ArrayRef { Arc::new(TimestampSecondArray::from(times)) };
        let unwritten = |column: ArrayRef| {
            let batch = RecordBatch::try_from_iter_with_nullable([("when", column, true)]).unwrap();
            Values::of(&batch).unwrap().check(&batch.schema()).err().map(|failure| failure.message().to_owned())
        };
        assert_eq!(unwritten(times(vec![Some(0), None, Some(253_402_300_799)])), None);
        let said = "column \"when\": the date or time 9000000000000000 has no text form";
        assert_eq!(unwritten(times(vec![Some(0), Some(9_000_000_000_000_000)])).as_deref(), Some(said));
        let list = ListArray::from_iter_primitive::<Time64MicrosecondType, _, _>([Some(vec![Some(-1)])]);
        assert!(unwritten(Arc::new(list)).is_some());
        assert_eq!(unwritten(times(vec![])), None);
    }

    #[test]
    fn dictionaries_are_their_values() {
        let keys = Int8Array::from(vec![Some(1), None, Some(0), Some(2)]);
        let values = Arc::new(StringArray::from(vec![Some("a"), Some("b"), None]));
        let dictionary = DictionaryArray::<Int8Type>::try_new(keys, values).unwrap();
        is(Arc::new(dictionary), &[("b", "\"b\""), ("", "null"), ("a", "\"a\""), ("", "null")]);
    }

    #[test]
    fn lists_and_structs_are_composed() {
        let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None]), None, Some(vec![])]);
        is(Arc::new(lists), &[("[1, ]", "[1,null]"), ("", "null"), ("[]", "[]")]);
        let field = |name: &str, datatype| Arc::new(Field::new(name, datatype, true));
        let columns: Vec<(_, ArrayRef)> = vec![
            (field("x", DataType::Float64), Arc::new(Float64Array::from(vec![f64::NAN]))),
            (field("y\"", DataType::Utf8), Arc::new(StringArray::from(vec!["z"]))),
        ];
        is(Arc::new(StructArray::from(columns)), &[("{x: NaN, y\": z}", r#"{"x":"NaN","y\"":"z"}"#)]);
    }
}
