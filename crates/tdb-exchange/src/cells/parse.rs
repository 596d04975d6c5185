//! Parsers for the text and JSON forms that [`CellKind`] prints.

use std::collections::HashMap;

use serde_json::Value;
use tdb_schema::Enumeration;
use tdb_types::datetime::{self, WrittenError};
use tdb_types::{CellValNum, Datatype, PhysicalType, Scalar, hex};

use super::kind::{CellKind, hex_member};
use super::zone::in_utc;

/// A parser for the cells of one field, in CSV or JSON.
#[derive(Debug)]
pub struct CellParser {
    datatype: Datatype,
    number: CellValNum,
    kind: CellKind,
    /// Permits cells that end within a value, as some enumeration values do.
    is_uneven: bool,
    /// Permits JSON numbers and booleans in text fields.
    takes_numbers: bool,
    values: Option<Values>,
}

/// Length of an ISO date with year, month and day.
const DAY: usize = "2020-01-31".len();

/// JSON numbers from this bound on may lose digits, because the JSON parser stores them as floats.
const MOST_EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;

/// The values of an enumeration with their indices.
#[derive(Debug)]
struct Values {
    name: String,
    parser: Box<CellParser>,
    indices: HashMap<Vec<u8>, usize>,
}

impl CellParser {
    /// Creates a parser for a field of this type.
    #[must_use]
    pub fn new(datatype: Datatype, number: CellValNum) -> Self {
        let kind = CellKind::of(datatype, number, false);
        Self { datatype, number, kind, is_uneven: false, takes_numbers: false, values: None }
    }

    /// Accepts JSON numbers and booleans as text, like CSV does.
    pub(crate) fn take_numbers(&mut self) {
        self.takes_numbers = true;
    }

    /// Parses cells as values of the enumeration and stores their indices.
    pub(crate) fn with_enumeration(mut self, enumeration: &Enumeration) -> Self {
        let parser = Self::new(enumeration.datatype(), enumeration.cell_val_num());
        self.values = Some(Values {
            name: enumeration.name().to_owned(),
            parser: Box::new(Self { is_uneven: enumeration.uneven_value().is_some(), ..parser }),
            indices: enumeration.values().zip(0..).map(|(value, index)| (value.to_vec(), index)).collect(),
        });
        self
    }

    /// Parses a CSV field and appends the bytes of the cell.
    ///
    /// # Errors
    /// Returns the reason if `text` is not a valid cell of the field.
    pub fn text(&self, text: &str, out: &mut Vec<u8>) -> Result<(), String> {
        if let Some(values) = &self.values {
            if self.number != CellValNum::ONE {
                return self.json(&array(text)?, out);
            }
            return match self.index(values, text, |parser, value| parser.text(text, value), out) {
                // The printed form of an index without an enumeration value.
                Err(why) => match text.strip_prefix('#') {
                    Some(index) => push_number(self.datatype.physical(), self.datatype, index, out),
                    None if text.starts_with('{') => self.json(&serde_json::from_str(text).map_err(|_| why)?, out),
                    None => Err(why),
                },
                done => done,
            };
        }
        let start = out.len();
        match self.kind {
            CellKind::Number { many: false, physical } => push_number(physical, self.datatype, trim(text), out)?,
            CellKind::Bool { many: false } => out.push(truth(trim(text))?),
            CellKind::Date { many: false, .. } => self.date(trim(text), out)?,
            CellKind::Text { unit } => match hex_of(text) {
                Some(digits) => unhex(&digits, out)?,
                None => encode(text, unit, out),
            },
            CellKind::Bytes => unhex(text, out)?,
            CellKind::Number { .. } | CellKind::Bool { .. } | CellKind::Date { .. } => {
                return self.json(&array(text)?, out);
            }
        }
        self.check_len(out.len() - start)
    }

    /// Appends the NaT cell that represents null. Returns `false` if the field has no such cell.
    pub(crate) fn no_time(&self, out: &mut Vec<u8>) -> bool {
        match &self.values {
            Some(values) if self.number == CellValNum::ONE => {
                let parse = |parser: &Self, bytes: &mut Vec<u8>| match parser.no_time(bytes) {
                    true => Ok(()),
                    false => Err(String::new()),
                };
                self.index(values, "", parse, out).is_ok()
            }
            None if matches!(self.kind, CellKind::Date { many: false, .. }) => {
                out.extend_from_slice(&i64::MIN.to_le_bytes());
                true
            }
            _ => false,
        }
    }

    /// Returns `true` if a cell may be an empty text or empty bytes, which look like null in
    /// unquoted CSV.
    pub(crate) fn may_be_empty(&self) -> bool {
        self.values.as_ref().map_or(self.kind, |values| values.parser.kind).may_be_empty()
    }

    /// Parses a JSON value and appends the bytes of the cell.
    ///
    /// # Errors
    /// Returns the reason if `text` is not a valid cell of the field.
    pub fn json_text(&self, text: &str, out: &mut Vec<u8>) -> Result<(), String> {
        self.json(&serde_json::from_str(text).map_err(|error| format!("invalid JSON: {error}"))?, out)
    }

    /// Appends the cell that a JSON value represents.
    ///
    /// # Errors
    /// Returns the reason if `value` does not represent a valid cell of the field.
    pub(crate) fn json(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        let start = out.len();
        let many = self.number != CellValNum::ONE && !matches!(self.kind, CellKind::Text { .. } | CellKind::Bytes);
        match (value, hex_member(value)) {
            (Value::Array(members), _) if many => members.iter().try_for_each(|member| self.one(member, out))?,
            // The printed form of cells that end within a value.
            (_, Some(digits)) if self.is_uneven => unhex(digits, out)?,
            (other, _) if many => return Err(format!("expected an array of values, found {other}")),
            (other, _) => self.one(other, out)?,
        }
        self.check_len(out.len() - start)
    }

    fn one(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        if let Some(values) = &self.values {
            // The printed form of an index without an enumeration value.
            let index = value.as_object().filter(|members| members.len() == 1).and_then(|members| members.get("index"));
            if let Some(index) = index {
                return push_number(self.datatype.physical(), self.datatype, &index.to_string(), out);
            }
            return self.index(values, value, |parser, bytes| parser.json(value, bytes), out);
        }
        match (self.kind, value) {
            (CellKind::Number { physical, .. }, Value::Number(number)) => {
                push_number(physical, self.datatype, &number.to_string(), out)
            }
            // Strings represent NaN and the infinities, which are not JSON numbers.
            (CellKind::Number { physical, .. }, Value::String(text)) => push_number(physical, self.datatype, text, out),
            (CellKind::Bool { .. }, Value::Bool(value)) => {
                out.push(u8::from(*value));
                Ok(())
            }
            // Some arrays store values other than 0 and 1.
            (CellKind::Bool { .. }, Value::Number(number)) => {
                push_number(PhysicalType::U8, self.datatype, &number.to_string(), out)
            }
            (CellKind::Date { .. }, Value::String(text)) => self.date(text, out),
            (CellKind::Date { many: true, .. }, Value::Null) => {
                out.extend_from_slice(&i64::MIN.to_le_bytes());
                Ok(())
            }
            (CellKind::Date { .. }, Value::Number(number)) => self.date(&number.to_string(), out),
            (CellKind::Text { unit }, Value::String(text)) => {
                encode(text, unit, out);
                Ok(())
            }
            (CellKind::Text { .. }, Value::Number(number))
                if number.as_f64().is_none_or(|number| number.abs() >= MOST_EXACT) =>
            {
                Err(format!("{}; write the number in quotes to keep all digits", self.no_cell(value)))
            }
            (CellKind::Text { unit }, Value::Number(_) | Value::Bool(_)) if self.takes_numbers => {
                encode(&value.to_string(), unit, out);
                Ok(())
            }
            (CellKind::Text { .. }, Value::Number(_) | Value::Bool(_)) => {
                Err(format!("{}; write the value in quotes", self.no_cell(value)))
            }
            (CellKind::Text { .. } | CellKind::Bytes, Value::Object(_)) => match hex_member(value) {
                Some(digits) => unhex(digits, out),
                None => Err(self.no_cell(value)),
            },
            (CellKind::Bytes, Value::String(digits)) => unhex(digits, out),
            _ => Err(self.no_cell(value)),
        }
    }

    fn no_cell(&self, value: impl std::fmt::Display) -> String {
        format!("{value} is not a valid {}", self.datatype)
    }

    fn index(
        &self,
        values: &Values,
        shown: impl std::fmt::Display,
        parse: impl FnOnce(&Self, &mut Vec<u8>) -> Result<(), String>,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let mut bytes = Vec::new();
        parse(&values.parser, &mut bytes)?;
        let index = values.indices.get(&bytes);
        let index = index.ok_or_else(|| format!("{shown} is not a value of enumeration {:?}", values.name))?;
        push_number(self.datatype.physical(), self.datatype, &index.to_string(), out)
    }

    fn date(&self, text: &str, out: &mut Vec<u8>) -> Result<(), String> {
        let text = &*in_utc(text);
        let value = match datetime::read(self.datatype, text) {
            // A day without a time becomes its midnight. A month or year is ambiguous unless the
            // unit is coarse enough.
            Ok((first, last)) if first == last || (first < last && text.len() >= DAY) => first,
            Ok((first, last)) if first < last => {
                return Err(format!("{text:?} covers several values of {}: write a more precise date", self.datatype));
            }
            Ok(_) | Err(WrittenError::NotAValue) => {
                return Err(format!("{text:?} is not a date that {} can represent", self.datatype));
            }
            Err(why) => return Err(why.to_string()),
        };
        out.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    fn check_len(&self, len: usize) -> Result<(), String> {
        let size = self.datatype.size();
        match self.number.fixed() {
            Some(number) if len != size * number as usize => {
                Err(format!("expected {number} values of {} in a cell, found {}", self.datatype, len / size))
            }
            None if !self.is_uneven && !len.is_multiple_of(size) => {
                Err(format!("expected a multiple of the value size, found {len} bytes for {}", self.datatype))
            }
            _ => Ok(()),
        }
    }
}

/// Parses a CSV field as a single value of a datatype and appends the bytes.
///
/// # Errors
/// Returns the reason if `text` is not a valid value of the datatype.
pub fn cell_of_text(datatype: Datatype, text: &str, out: &mut Vec<u8>) -> Result<(), String> {
    CellParser::new(datatype, CellValNum::ONE).text(text, out)
}

/// Removes surrounding white space.
fn trim(text: &str) -> &str {
    match text.as_bytes() {
        // The common case has no white space and needs no decoding.
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => text,
        _ => text.trim(),
    }
}

fn push_number(physical: PhysicalType, datatype: Datatype, text: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let scalar = Scalar::parse(physical, text).ok_or_else(|| match text {
        "" => format!("expected a value of {datatype}, found an empty text"),
        text => format!("{text:?} is not a valid {datatype}"),
    })?;
    out.extend_from_slice(&scalar.to_le_bytes());
    Ok(())
}

fn truth(text: &str) -> Result<u8, String> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Ok(1),
        _ if text.eq_ignore_ascii_case("false") => Ok(0),
        // Some arrays store values other than 0 and 1.
        _ => text.parse().map_err(|_| format!("expected true or false, found {text:?}")),
    }
}

fn array(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|_| format!("expected an array of values such as [1, 2], found {text:?}"))
}

/// Returns the digits of a `{"hex":"..."}` object, the printed form of bytes that are not valid
/// text.
fn hex_of(text: &str) -> Option<String> {
    let value: Value = text.starts_with('{').then(|| serde_json::from_str(text).ok())??;
    hex_member(&value).map(str::to_owned)
}

/// Appends text in code units of `unit` bytes.
pub(crate) fn encode(text: &str, unit: usize, out: &mut Vec<u8>) {
    match unit {
        1 => out.extend_from_slice(text.as_bytes()),
        2 => out.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        _ => out.extend(text.chars().flat_map(|character| u32::from(character).to_le_bytes())),
    }
}

/// Appends the bytes of hexadecimal digits.
///
/// # Errors
/// Returns the reason if the digits are not hexadecimal bytes.
pub(crate) fn unhex(digits: &str, out: &mut Vec<u8>) -> Result<(), String> {
    out.extend(hex::decode(digits).ok_or_else(|| format!("expected bytes as hexadecimal digits, found {digits:?}"))?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(parser: &CellParser, text: &str) -> Result<Vec<u8>, String> {
        let mut out = vec![9];
        parser.text(text, &mut out).map(|()| out.split_off(1))
    }

    fn why(datatype: Datatype, text: &str) -> String {
        bytes(&CellParser::new(datatype, CellValNum::ONE), text).unwrap_err()
    }

    #[test]
    fn invalid_cells_are_rejected_with_a_reason() {
        assert_eq!(why(Datatype::Int8, "200"), "\"200\" is not a valid int8");
        assert_eq!(why(Datatype::Int8, ""), "expected a value of int8, found an empty text");
        assert_eq!(why(Datatype::Bool, "maybe"), "expected true or false, found \"maybe\"");
        assert_eq!(
            why(Datatype::DatetimeDay, "2020-02"),
            "\"2020-02\" covers several values of datetime_day: write a more precise date"
        );
        assert_eq!(why(Datatype::StringUtf8, "abc"), "expected 1 values of string_utf8 in a cell, found 3");
        assert_eq!(why(Datatype::Blob, "abc"), "expected bytes as hexadecimal digits, found \"abc\"");
        let text = CellParser::new(Datatype::StringUtf16, CellValNum::Var);
        assert_eq!(
            bytes(&text, r#"{"hex":"c3"}"#).unwrap_err(),
            "expected a multiple of the value size, found 1 bytes for string_utf16"
        );
        assert_eq!(bytes(&text, r#"{"hex":"c"}"#).unwrap_err(), "expected bytes as hexadecimal digits, found \"c\"");
    }

    #[test]
    fn values_of_an_enumeration_become_indices() {
        let colours = Enumeration::strings("colours", "f", Datatype::StringUtf8, ["red", "blue"]).unwrap();
        let parser = CellParser::new(Datatype::UInt16, CellValNum::ONE).with_enumeration(&colours);
        assert_eq!(bytes(&parser, "blue").unwrap(), [1, 0]);
        assert_eq!(bytes(&parser, "green").unwrap_err(), "green is not a value of enumeration \"colours\"");
        assert_eq!(bytes(&parser, "#7").unwrap(), [7, 0]);
        assert_eq!(bytes(&parser, "#x").unwrap_err(), "\"x\" is not a valid uint16");
        let many = CellParser::new(Datatype::UInt8, CellValNum::Var).with_enumeration(&colours);
        assert_eq!(bytes(&many, r#"["blue", "red"]"#).unwrap(), [1, 0]);
    }

    #[test]
    fn numbers_of_dates_mean_the_same_in_csv_and_json() {
        let both = |datatype, text: &str| {
            let parser = CellParser::new(datatype, CellValNum::ONE);
            let mut out = Vec::new();
            let json = parser.json(&serde_json::from_str(text).unwrap(), &mut out).map(|()| out);
            assert_eq!(bytes(&parser, text), json, "{text}");
            json.map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap()))
        };
        assert_eq!(both(Datatype::DatetimeYear, "2024"), Ok(54));
        assert_eq!(both(Datatype::DatetimeDay, "7"), Ok(7));
        assert_eq!(both(Datatype::DatetimeMs, "1700000000000"), Ok(1_700_000_000_000));
        assert!(both(Datatype::DatetimeDay, "2024").unwrap_err().contains("several values of datetime_day"));
        assert!(both(Datatype::DatetimeDay, "20240501").unwrap_err().contains("20240501D"));
    }

    fn datatypes() -> impl Strategy<Value = (Datatype, CellValNum)> {
        let numbers = [CellValNum::ONE, CellValNum::Var];
        (prop::sample::select(Datatype::ALL), prop::sample::select(numbers.to_vec()))
    }

    proptest! {
        #[test]
        fn printed_cells_are_parsed_back((datatype, number) in datatypes(), bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let size = datatype.size();
            let len = if number == CellValNum::ONE { size } else { bytes.len() / size * size };
            prop_assume!(bytes.len() >= len);
            let cell = bytes[..len].to_vec();
            let kind = CellKind::of(datatype, number, false);
            let has_nan = |cell: &[u8]| match datatype {
                Datatype::Float32 => cell.as_chunks().0.iter().any(|value| f32::from_le_bytes(*value).is_nan()),
                Datatype::Float64 => cell.as_chunks().0.iter().any(|value| f64::from_le_bytes(*value).is_nan()),
                _ => false,
            };
            prop_assume!(!has_nan(&cell));
            let parser = CellParser::new(datatype, number);
            let (mut json, mut back) = (Vec::new(), Vec::new());
            kind.json(&cell, &mut json);
            parser.json(&serde_json::from_slice(&json).unwrap(), &mut back).unwrap();
            prop_assert_eq!(&back, &cell);
            let text = kind.text(&cell);
            prop_assert_eq!(&self::bytes(&parser, &text).unwrap(), &cell, "{}", text);
        }
    }
}
