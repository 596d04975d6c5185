//! Values of cells, metadata and coordinates as JSON.
//!
//! JSON has no integers beyond 2^53, no bytes, and no infinite numbers. An object with the single
//! key `$` replaces them. Its text is a letter for the type, followed by the value: `i` for an
//! integer of 64 bits, `b` for bytes as hexadecimal digits, and `f` for a number.

use serde_json::{Map, Value, json};
use tdb_array::tdb_rtree::NdRange;
use tdb_array::tdb_schema::ArraySchema;
use tdb_array::tdb_types::{CellValNum, Datatype, Scalar, datetime, hex};
use tdb_array::{Coordinate, Metadata, MetadataView};

use crate::failure::{Failure, Result};

fn tagged(letter: char, value: impl std::fmt::Display) -> Value {
    json!({ "$": format!("{letter}{value}") })
}

pub(crate) fn big(number: impl std::fmt::Display) -> Value {
    tagged('i', number)
}

fn bytes(bytes: &[u8]) -> Value {
    tagged('b', hex::encode(bytes))
}

fn float(number: f64) -> Value {
    if number.is_finite() { json!(number) } else { tagged('f', number) }
}

/// Converts a value: datatypes of 64 bits to an integer without rounding, and `bool` to a boolean.
fn scalar(datatype: Datatype, value: Scalar) -> Value {
    match (value, value.to_integer()) {
        (Scalar::U8(value), _) if datatype == Datatype::Bool => json!(value != 0),
        (_, None) => float(value.to_f64()),
        (Scalar::I64(_) | Scalar::U64(_), Some(number)) => big(number),
        (_, Some(number)) => json!(number as i64),
    }
}

/// Converts a cell. Invalid UTF-8 becomes bytes.
pub(crate) fn cell(datatype: Datatype, number: CellValNum, cell: &[u8]) -> Value {
    let is_text = datatype.is_string() && datatype.size() == 1;
    if is_text || datatype == Datatype::Char {
        return std::str::from_utf8(cell).map_or_else(|_| bytes(cell), |text| json!(text));
    }
    if datatype.is_bytes() || datatype.is_string() && !is_text {
        return bytes(cell);
    }
    let values = cell.chunks_exact(datatype.size());
    let values = values.filter_map(|bytes| Scalar::from_le_bytes(datatype.physical(), bytes));
    let mut values = values.map(|value| scalar(datatype, value));
    match number {
        CellValNum::ONE => values.next().unwrap_or(Value::Null),
        _ => values.collect(),
    }
}

/// Converts a bound of a dimension.
pub(crate) fn bound(datatype: Datatype, value: Scalar) -> Value {
    scalar(datatype, value)
}

fn coordinate(datatype: Datatype, coordinate: &Coordinate) -> Value {
    match coordinate {
        Coordinate::Integer(number) if datatype.size() == 8 => big(number),
        Coordinate::Integer(number) => i64::try_from(*number).map_or_else(|_| big(number), |number| json!(number)),
        Coordinate::Float(number) => float(*number),
        Coordinate::Bytes(text) => std::str::from_utf8(text).map_or_else(|_| bytes(text), |text| json!(text)),
        _ => Value::Null,
    }
}

/// Converts the sides of a box.
pub(crate) fn sides(schema: &ArraySchema, region: &NdRange) -> Value {
    let sides = Coordinate::of_box(schema, region).into_iter().zip(schema.dimensions());
    let side = |(range, dimension): (std::ops::RangeInclusive<Coordinate>, &tdb_array::tdb_schema::Dimension)| {
        let datatype = dimension.datatype();
        json!([coordinate(datatype, range.start()), coordinate(datatype, range.end())])
    };
    sides.map(side).collect()
}

pub(crate) fn metadata(metadata: &Metadata) -> Value {
    let entry = |(key, value): (std::borrow::Cow<'_, str>, &tdb_array::MetadataValue)| {
        let datatype = value.datatype();
        let shown = match value.view() {
            MetadataView::Empty => json!([]),
            MetadataView::Text(text) => json!(text),
            MetadataView::Number(number) => scalar(datatype, number),
            MetadataView::Numbers(numbers) => numbers.into_iter().map(|number| scalar(datatype, number)).collect(),
            MetadataView::Bytes(found) => bytes(found),
        };
        (key.into_owned(), json!({ "datatype": datatype.name(), "value": shown }))
    };
    Value::Object(metadata.iter().map(entry).collect::<Map<_, _>>())
}

/// Parses an end of a range. The text of a date may denote a period: `is_last` selects its last
/// value instead of its first.
pub(crate) fn parse_coordinate(name: &str, datatype: Datatype, value: &Value, is_last: bool) -> Result<Coordinate> {
    let wrong = || Failure::field(name, format_args!("{value} is not a coordinate of {datatype}"));
    match value {
        Value::String(text) if datatype.is_datetime() => {
            let period = datetime::read(datatype, text);
            let (first, last) = period.map_err(|error| Failure::field(name, format_args!("{text:?}: {error}")))?;
            Ok(Coordinate::Integer(if is_last { last } else { first }.into()))
        }
        Value::String(text) => Ok(Coordinate::Bytes(text.as_bytes().to_vec())),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Ok(Coordinate::Integer(integer.into())),
            None => number.as_f64().map(Coordinate::Float).ok_or_else(wrong),
        },
        Value::Object(_) => {
            let text = value["$"].as_str().unwrap_or_default();
            let parsed = match text.split_at_checked(1) {
                Some(("i", digits)) => digits.parse().ok().map(Coordinate::Integer),
                Some(("b", digits)) => hex::decode(digits).map(Coordinate::Bytes),
                Some(("f", digits)) => digits.parse().ok().map(Coordinate::Float),
                _ => None,
            };
            parsed.ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_json() {
        assert_eq!(
            cell(Datatype::UInt64, CellValNum::ONE, &u64::MAX.to_le_bytes()),
            json!({"$": "i18446744073709551615"})
        );
        assert_eq!(cell(Datatype::Float32, CellValNum::ONE, &f32::INFINITY.to_le_bytes()), json!({"$": "finf"}));
        assert_eq!(cell(Datatype::Int16, CellValNum::Var, &[1, 0, 255, 255]), json!([1, -1]));
        assert_eq!(cell(Datatype::StringUtf8, CellValNum::Var, b"caf\xc3\xa9"), json!("café"));
        assert_eq!(cell(Datatype::StringAscii, CellValNum::Var, &[0xff]), json!({"$": "bff"}));
        assert_eq!(cell(Datatype::Bool, CellValNum::ONE, &[1]), json!(true));
    }

    #[test]
    fn coordinates_are_parsed() {
        let parse = |datatype, value, is_last| parse_coordinate("d", datatype, &value, is_last).ok();
        assert_eq!(
            parse(Datatype::UInt64, json!({"$": "i18446744073709551615"}), false),
            Some(Coordinate::Integer(u64::MAX.into()))
        );
        assert_eq!(parse(Datatype::DatetimeDay, json!("1970-02"), true), Some(Coordinate::Integer(58)));
        assert_eq!(parse(Datatype::StringAscii, json!({"$": "b00ff"}), false), Some(Coordinate::Bytes(vec![0, 255])));
        assert_eq!(parse(Datatype::Float64, json!(0.5), false), Some(Coordinate::Float(0.5)));
        assert_eq!(parse(Datatype::Int32, json!(null), false), None);
        assert_eq!(parse(Datatype::Int32, json!({"$": "é"}), false), None);
    }
}
