//! Conversions of columns with `--type NAME=TYPE`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_cast::cast;
use tdb_arrow::arrow_array::cast::AsArray;
use tdb_arrow::arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, Float32Array, Float64Array, Int64Array, LargeListArray,
    RecordBatch, RecordBatchOptions, UInt64Array,
};
use tdb_arrow::arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use tdb_arrow::tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_arrow::{DATATYPE_KEY, ROLE_KEY, VALUES_KEY, cells_of};
use tdb_cli::{Failure, Result, cell_of_text};

/// Requested types of columns, by name.
#[derive(Clone, Debug)]
pub(super) struct Casts(Vec<(String, Datatype)>);

/// Rows of a batch that cannot be converted, with the reason.
pub(super) type Rejected = BTreeMap<usize, String>;

impl Casts {
    pub(super) fn new(types: Vec<(String, Datatype)>) -> Self {
        Self(types)
    }

    fn of(&self, name: &str) -> Option<Datatype> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, datatype)| *datatype)
    }

    /// Returns the schema after conversion.
    ///
    /// # Errors
    /// A column does not exist, or cannot be converted.
    pub(super) fn schema(&self, path: &Path, schema: &SchemaRef) -> Result<SchemaRef> {
        if let Some((name, _)) = self.0.iter().find(|(name, _)| schema.column_with_name(name).is_none()) {
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            return Err(Failure::usage(format!("{}: --type {name}: no column is named {name:?}", path.display()))
                .with_hint(format!("the columns are {}", names.join(", "))));
        }
        let field = |field: &Arc<Field>| match self.of(field.name()) {
            None => Ok(Arc::clone(field)),
            Some(datatype) => retyped(field, datatype).map(Arc::new).ok_or_else(|| {
                let (name, data_type) = (field.name(), field.data_type());
                let why = format!("{}: cannot convert column {name:?} from {data_type} to {datatype}", path.display());
                Failure::usage(why).with_hint(format!("pass another type, or leave out --type {name}={datatype}"))
            }),
        };
        let fields: Vec<Arc<Field>> = schema.fields().iter().map(field).collect::<Result<_>>()?;
        Ok(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())))
    }

    /// Converts the columns of a batch. Rejected cells become null.
    ///
    /// # Errors
    /// The batch does not match the file's columns.
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
                    let column = converted(column, &field, datatype, &mut rejected)?;
                    (Arc::new(field.with_nullable(true)), column)
                }
            };
            fields.push(field);
            columns.push(column);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok((RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?, rejected))
    }
}

/// Types to suggest with `--type` for an unsupported column. `None` if no type helps.
pub(super) fn castable(data_type: &DataType) -> Option<&'static str> {
    match data_type {
        DataType::Null => Some("float64, string_utf8 or any other type"),
        DataType::Float16 => Some("float64, float32, int64 or string_utf8"),
        data_type if data_type.is_decimal() => Some("float64, int64 or string_utf8"),
        DataType::Dictionary(_, values) => castable(values),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _)
            if castable(item.data_type()).is_some() =>
        {
            Some("float64 or int64")
        }
        _ => None,
    }
}

fn is_text(datatype: Datatype) -> bool {
    datatype.is_string() || datatype.is_bytes() || datatype == Datatype::Char
}

/// Returns the field with the Arrow type for this datatype. `None` if the values cannot be
/// converted.
fn retyped(field: &Field, datatype: Datatype) -> Option<Field> {
    let source: &DataType = match field.data_type() {
        DataType::Dictionary(_, values) => values,
        data_type => data_type,
    };
    let list = |item: DataType| Arc::new(Field::new(Field::LIST_FIELD_DEFAULT_NAME, item, true));
    let (item, number): (&DataType, CellValNum) = match source {
        DataType::List(item) | DataType::LargeList(item) => (item.data_type(), CellValNum::Var),
        DataType::FixedSizeList(item, size) => (item.data_type(), CellValNum::from_code(u32::try_from(*size).ok()?)?),
        data_type if is_text(datatype) => (data_type, CellValNum::Var),
        data_type => (data_type, CellValNum::ONE),
    };
    let as_column = |item: DataType| match source {
        DataType::List(_) | DataType::LargeList(_) => DataType::LargeList(list(item)),
        DataType::FixedSizeList(_, size) => DataType::FixedSizeList(list(item), *size),
        _ => item,
    };
    let told = |data_type: DataType| {
        let values = number.fixed().map_or_else(|| "var".to_owned(), |number| number.to_string());
        let metadata = [(ROLE_KEY, "attribute"), (DATATYPE_KEY, datatype.name()), (VALUES_KEY, &values)];
        let metadata = metadata.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let field = Field::new(field.name(), data_type, field.is_nullable()).with_metadata(metadata);
        (cells_of(&field).ok() == Some((datatype, number))).then_some(field)
    };
    let known = told(source.clone()).or_else(|| match item {
        DataType::Float16 if datatype.is_float() => told(as_column(DataType::Float32)),
        _ => None,
    });
    known.or_else(|| {
        let parsed = match datatype {
            Datatype::Bool => DataType::Boolean,
            Datatype::UInt64 => DataType::UInt64,
            Datatype::Float32 => DataType::Float32,
            Datatype::Float64 => DataType::Float64,
            _ if is_text(datatype) => DataType::LargeUtf8,
            _ => DataType::Int64,
        };
        told(as_column(parsed)).filter(|_| is_readable(item, datatype))
    })
}

/// `true` if values of an Arrow type convert to a datatype through their text.
fn is_readable(item: &DataType, datatype: Datatype) -> bool {
    let is_number = !is_text(datatype) && !datatype.is_datetime() && !datatype.is_time() && datatype != Datatype::Bool;
    match item {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Boolean => is_text(datatype),
        data_type if counts(data_type) => true,
        data_type if data_type.is_numeric() => is_number || is_text(datatype) || datatype == Datatype::Bool,
        data_type if data_type.is_temporal() => is_number || is_text(datatype),
        _ => false,
    }
}

/// `true` if `Int64` holds all values of an integer type.
fn counts(data_type: &DataType) -> bool {
    data_type.is_integer() && *data_type != DataType::UInt64
}

/// Converts a column to the type of the field.
fn converted(
    column: &ArrayRef,
    to: &Field,
    datatype: Datatype,
    rejected: &mut Rejected,
) -> std::result::Result<ArrayRef, ArrowError> {
    let column = match column.data_type() {
        DataType::Dictionary(_, values) => &cast(column, values)?,
        _ => column,
    };
    if column.data_type() == to.data_type() {
        return Ok(Arc::clone(column));
    }
    let mut reject = |row: usize, why: String| {
        rejected.entry(row).or_insert_with(|| format!("{}: {why}", to.name()));
    };
    Ok(match to.data_type() {
        DataType::LargeList(item) => {
            // Changes only the offsets.
            let list = match column.data_type() {
                DataType::List(item) => &cast(column, &DataType::LargeList(Arc::clone(item)))?,
                _ => column,
            };
            let list = list.as_list::<i64>();
            let ends = list.value_offsets();
            let row = |value: usize| ends.partition_point(|end| *end <= value as i64).checked_sub(1);
            let values = values(list.values(), item.data_type(), datatype, &mut |value, why| {
                row(value).into_iter().for_each(|row| reject(row, why.clone()));
            })?;
            Arc::new(LargeListArray::try_new(Arc::clone(item), list.offsets().clone(), values, list.nulls().cloned())?)
        }
        DataType::FixedSizeList(item, size) => {
            let list = column.as_fixed_size_list();
            let each = usize::try_from(*size).unwrap_or(1).max(1);
            let values =
                values(list.values(), item.data_type(), datatype, &mut |value, why| reject(value / each, why))?;
            Arc::new(FixedSizeListArray::try_new(Arc::clone(item), *size, values, list.nulls().cloned())?)
        }
        data_type => values(column, data_type, datatype, &mut reject)?,
    })
}

/// Converts values, and calls `reject` for each value that does not convert.
fn values(
    column: &ArrayRef,
    to: &DataType,
    datatype: Datatype,
    reject: &mut dyn FnMut(usize, String),
) -> std::result::Result<ArrayRef, ArrowError> {
    let from = column.data_type();
    // Dates and durations become numbers of units.
    let column = match from.is_temporal() && !is_text(datatype) {
        true => &cast(column, &DataType::Int64)?,
        false => column,
    };
    let is_direct = *from == DataType::Float16 && to.is_floating() || counts(from) && *to == DataType::Int64;
    if *to == DataType::LargeUtf8 || is_direct {
        return cast(column, to);
    }
    let texts = cast(column, &DataType::LargeUtf8)?;
    let texts = texts.as_string::<i64>();
    // Parses 64 bits. The conversion to cells checks the width of the field.
    let wide = match to {
        DataType::Int64 if !datatype.is_datetime() && !datatype.is_time() => Datatype::Int64,
        _ => datatype,
    };
    let mut cell = |row: usize| -> Option<Vec<u8>> {
        let text = texts.is_valid(row).then(|| texts.value(row))?;
        let whole = if to.is_integer() { whole(text) } else { None };
        let mut bytes = Vec::new();
        let parsed = cell_of_text(wide, whole.as_deref().unwrap_or(text), &mut bytes);
        let rounded = || from.is_decimal() && to.is_floating() && !is_same(text, to, &bytes);
        match parsed {
            Ok(()) if rounded() => reject(row, format!("{text} is not a valid {datatype} without rounding")),
            Ok(()) if datatype == Datatype::Bool && bytes != [0] && bytes != [1] => {
                reject(row, format!("expected true or false, found {text}"));
            }
            Ok(()) => return Some(bytes),
            Err(_) if from.is_numeric() => reject(row, format!("{text} is not a valid {datatype}")),
            Err(why) => reject(row, why),
        }
        None
    };
    macro_rules! numbers {
        ($array:ty, $number:ty) => {{
            let number = |row| Some(<$number>::from_le_bytes(cell(row)?.try_into().ok()?));
            Arc::new((0..texts.len()).map(number).collect::<$array>())
        }};
    }
    Ok(match to {
        DataType::Boolean => Arc::new((0..texts.len()).map(|row| Some(cell(row)? != [0])).collect::<BooleanArray>()),
        DataType::UInt64 => numbers!(UInt64Array, u64),
        DataType::Float32 => numbers!(Float32Array, f32),
        DataType::Float64 => numbers!(Float64Array, f64),
        _ => numbers!(Int64Array, i64),
    })
}

/// `true` if a float, rounded to the digits of a decimal, prints as that decimal.
fn is_same(decimal: &str, data_type: &DataType, float: &[u8]) -> bool {
    let digits = decimal.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let printed = match (data_type, float.first_chunk(), float.first_chunk()) {
        (DataType::Float32, Some(float), _) => format!("{:.digits$}", f32::from_le_bytes(*float)),
        (_, _, Some(float)) => format!("{:.digits$}", f64::from_le_bytes(*float)),
        _ => return false,
    };
    printed == decimal
}

/// Returns the digits of a whole number written with a fraction or an exponent.
fn whole(text: &str) -> Option<String> {
    if let Some((number, fraction)) = text.split_once('.')
        && !fraction.is_empty()
        && fraction.bytes().all(|digit| digit == b'0')
    {
        return Some(number.to_owned());
    }
    let number: f64 = if text.contains(['e', 'E']) { text.parse().ok()? } else { return None };
    (number.is_finite() && number.fract() == 0.0).then(|| format!("{number:.0}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_convert_exactly() {
        let double = |text: &str| is_same(text, &DataType::Float64, &text.parse::<f64>().unwrap_or(0.0).to_le_bytes());
        let single = |text: &str| is_same(text, &DataType::Float32, &text.parse::<f32>().unwrap_or(0.0).to_le_bytes());
        assert!(double("19.99") && single("-0.10"));
        assert!(!double("9007199254740993") && !single("16777217.00"));
        let whole = |text| whole(text).unwrap_or_default();
        assert_eq!([whole("12.00"), whole("1e3"), whole("12.50"), whole("12")], ["12", "1000", "", ""]);
    }
}
