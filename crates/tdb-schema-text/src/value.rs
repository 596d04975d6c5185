//! Parsing and printing of cells and coordinates.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use tdb_types::datetime::{self, Written, WrittenError};
use tdb_types::{CellValNum, Datatype, PhysicalType, Scalar, hex};
use toml::{Table, Value};

/// The key in a table that contains the bytes of a value.
const HEX: &str = "hex";

/// The size in bytes above which a cell is printed as hexadecimal bytes. A longer list is not more
/// readable, and needs much more memory.
const MOST_SPELT_OUT: usize = 64 << 10;

/// A value in the text. `toml::Value` holds only the integers of `i64`. The text may also have the
/// larger integers of `u64`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Given {
    Plain(Value),
    Large(u64),
    List(Vec<Given>),
}

impl Given {
    /// Converts to a value of a datatype. Returns `None` for an invalid value.
    pub(crate) fn value(&self, datatype: Datatype) -> Option<Scalar> {
        match self {
            Self::Plain(value) => parse_value(datatype, value),
            Self::Large(_) | Self::List(_) => self.scalar(datatype.physical()),
        }
    }

    /// Returns the message for an invalid value of a datatype, with an example for dates.
    pub(crate) fn no_value(&self, datatype: Datatype) -> String {
        let plain = format!("{self} is not a value of {datatype}");
        if !datatype.is_datetime() {
            return plain;
        }
        let written = match self {
            Self::Plain(Value::String(text)) => datetime::written(datatype, text),
            _ => Err(WrittenError::NotAValue),
        };
        match written {
            Ok(Written::Period(first, _)) => {
                let first = datetime::display(datatype, first).unwrap_or_default();
                format!("{self} covers several values of {datatype}; write a more precise date, as in {first:?}")
            }
            Ok(Written::One(_)) | Err(WrittenError::NotAValue) => {
                format!("{plain}; write a date in quotes, as in \"2024-05-01\"")
            }
            Err(why) => why.to_string(),
        }
    }

    /// Converts to a value of a type, like [`parse_scalar`].
    pub(crate) fn scalar(&self, physical: PhysicalType) -> Option<Scalar> {
        match self {
            Self::Plain(value) => parse_scalar(physical, value),
            Self::Large(number) => Scalar::parse(physical, &number.to_string()),
            Self::List(_) => None,
        }
    }

    /// Converts to the bytes of a cell: text for strings, a single value, or a list of values.
    pub(crate) fn cell(&self, datatype: Datatype, number: CellValNum) -> Option<Vec<u8>> {
        match self {
            Self::Plain(value) => parse_cell(datatype, number, value),
            Self::Large(_) => Some(self.value(datatype)?.to_le_bytes().to_vec()),
            Self::List(values) => bytes_of(values.iter().map(|value| value.value(datatype))),
        }
    }
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(value) => value.fmt(f),
            Self::Large(number) => number.fmt(f),
            Self::List(values) => {
                let values: Vec<_> = values.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", values.join(", "))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(GivenVisitor)
    }
}

struct GivenVisitor;

impl<'de> Visitor<'de> for GivenVisitor {
    type Value = Given;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Given, E> {
        Ok(Given::Plain(Value::Boolean(truth)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Given, E> {
        Ok(Given::Plain(Value::Integer(number)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Given, E> {
        Ok(i64::try_from(number).map_or(Given::Large(number), |number| Given::Plain(Value::Integer(number))))
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<Given, E> {
        Err(E::custom(format!("{number} is out of range: expected an integer from -2^63 to 2^64 - 1")))
    }

    fn visit_u128<E: Error>(self, number: u128) -> Result<Given, E> {
        Err(E::custom(format!("{number} is out of range: expected an integer from -2^63 to 2^64 - 1")))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Given, E> {
        Ok(Given::Plain(Value::Float(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Given, E> {
        Ok(Given::Plain(Value::String(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Given, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Given::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Given, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(map)).map(Given::Plain)
    }
}

/// Parses a value of a datatype. For dates, integers count units, and strings must be precise to
/// the unit.
fn parse_value(datatype: Datatype, value: &Value) -> Option<Scalar> {
    match value {
        Value::String(text) if datatype.is_datetime() => match datetime::written(datatype, text) {
            Ok(Written::One(value)) => Some(value),
            Ok(Written::Period(..)) | Err(_) => None,
        },
        value => parse_scalar(datatype.physical(), value),
    }
}

/// Parses a value of a type: an integer as a number or a string, a float, a boolean, or hexadecimal
/// bytes.
fn parse_scalar(physical: PhysicalType, value: &Value) -> Option<Scalar> {
    match value {
        Value::Integer(number) => Scalar::parse(physical, &number.to_string()),
        Value::Float(number) if physical == PhysicalType::F64 => Some(Scalar::F64(*number)),
        #[allow(clippy::cast_possible_truncation)] // rounds to nearest
        Value::Float(number) if physical == PhysicalType::F32 => Some(Scalar::F32(*number as f32)),
        Value::Boolean(truth) if physical == PhysicalType::U8 => Some(Scalar::U8((*truth).into())),
        Value::String(number) if !physical.is_float() => Scalar::parse(physical, number),
        Value::Table(table) => Scalar::from_le_bytes(physical, &table_bytes(table)?),
        _ => None,
    }
}

/// Prints a value in the most readable exact form.
pub(crate) fn print_scalar(scalar: Scalar) -> Value {
    let text = scalar.to_string();
    let value = match scalar {
        Scalar::F64(number) => Value::Float(number),
        // The shortest decimal of the `f32`, instead of all digits of the `f64`.
        Scalar::F32(number) => Value::Float(text.parse().unwrap_or(number.into())),
        _ => text.parse().map_or_else(|_| Value::String(text), Value::Integer),
    };
    // All NaNs have the same text. Other bit patterns need bytes.
    let is_odd = match scalar {
        Scalar::F64(number) => number.is_nan() && number.to_bits() != f64::NAN.to_bits(),
        Scalar::F32(number) => number.is_nan() && number.to_bits() != f32::NAN.to_bits(),
        _ => false,
    };
    let bytes = scalar.to_le_bytes();
    match parse_scalar(scalar.physical(), &value) {
        Some(parsed) if *parsed.to_le_bytes() == *bytes && !is_odd => value,
        _ => hex_table(&bytes),
    }
}

/// Parses the bytes of a cell: text for strings, a single value, or a list of values.
fn parse_cell(datatype: Datatype, number: CellValNum, value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::Table(table) => table_bytes(table),
        Value::String(text) if is_text(datatype, number) => Some(text.as_bytes().to_vec()),
        Value::Array(values) => bytes_of(values.iter().map(|value| parse_value(datatype, value))),
        value => Some(parse_value(datatype, value)?.to_le_bytes().to_vec()),
    }
}

fn bytes_of(scalars: impl Iterator<Item = Option<Scalar>>) -> Option<Vec<u8>> {
    let scalars: Vec<Scalar> = scalars.collect::<Option<_>>()?;
    Some(scalars.iter().flat_map(|scalar| scalar.to_le_bytes().to_vec()).collect())
}

/// Prints a cell in the most readable exact form.
pub(crate) fn print_cell(datatype: Datatype, number: CellValNum, bytes: &[u8]) -> Value {
    let value = match std::str::from_utf8(bytes) {
        _ if bytes.len() > MOST_SPELT_OUT => return hex_table(bytes),
        Ok(text) if is_text(datatype, number) => Value::String(text.to_owned()),
        _ => {
            let physical = datatype.physical();
            let scalars = bytes.chunks(physical.size()).map(|bytes| Scalar::from_le_bytes(physical, bytes));
            match scalars.collect::<Option<Vec<_>>>().as_deref() {
                Some([one]) if number == CellValNum::ONE => print_scalar(*one),
                Some(many) => Value::Array(many.iter().copied().map(print_scalar).collect()),
                None => hex_table(bytes),
            }
        }
    };
    if parse_cell(datatype, number, &value).as_deref() == Some(bytes) { value } else { hex_table(bytes) }
}

/// Returns `true` if cells are text with one-byte units. Cells of a single unit are printed as
/// numbers.
fn is_text(datatype: Datatype, number: CellValNum) -> bool {
    let text = matches!(datatype, Datatype::StringAscii | Datatype::StringUtf8 | Datatype::Char | Datatype::GeomWkt);
    text && number != CellValNum::ONE
}

fn table_bytes(table: &Table) -> Option<Vec<u8>> {
    match (table.get(HEX), table.len()) {
        (Some(Value::String(digits)), 1) => hex::decode(digits),
        _ => None,
    }
}

fn hex_table(bytes: &[u8]) -> Value {
    Value::Table(Table::from_iter([(HEX.to_owned(), Value::String(hex::encode(bytes)))]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_dates_are_dates_and_integers_are_numbers_of_units() {
        let day = |value| parse_value(Datatype::DatetimeDay, &value).and_then(Scalar::to_integer);
        assert_eq!(day(Value::Integer(2024)), Some(2024));
        assert_eq!(day(Value::String("1970-01-03".to_owned())), Some(2));
        assert_eq!(day(Value::String("2024D".to_owned())), Some(2024));
        for unclear in ["2024", "20240501", "2024-05"] {
            assert_eq!(day(Value::String(unclear.to_owned())), None, "{unclear}");
        }
        let year = parse_value(Datatype::DatetimeYear, &Value::String("2024".to_owned()));
        assert_eq!(year, Some(Scalar::I64(54)));
        let cell = parse_cell(Datatype::DatetimeYear, CellValNum::ONE, &Value::String("2024".to_owned()));
        assert_eq!(cell, Some(54_i64.to_le_bytes().to_vec()));
    }
}
