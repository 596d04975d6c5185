//! The common type of the values of a column.

use serde_json::Value;
use tdb_types::{Datatype, datetime};

use crate::cells::{hex_member, in_utc};

/// The class of a single value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Bool = 1,
    Integer = 2,
    Float = 4,
    /// NaN and the infinities, which are not JSON numbers.
    NotFinite = 8,
    Day = 16,
    /// A date with a time.
    Moment = 32,
    /// NaT.
    NotATime = 64,
    Text = 128,
    Bytes = 256,
    /// A date without an ISO form, printed as a count of units.
    FarDate = 512,
}

const NUMBERS: u16 = Content::Integer as u16 | Content::Float as u16 | Content::NotFinite as u16;
const DATES: u16 = Content::Day as u16 | Content::Moment as u16;
/// Classes that JSON represents as strings.
const STRINGS: u16 =
    DATES | Content::NotFinite as u16 | Content::NotATime as u16 | Content::Text as u16 | Content::FarDate as u16;

/// The classes of all values of a column, or of all elements of its arrays.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// `true` if all values are text, as in CSV.
    pub(super) is_text: bool,
    contents: u16,
    /// The minimum integer.
    pub(super) low: Option<i128>,
    /// The maximum integer.
    pub(super) high: Option<i128>,
    /// The unit of dates without an ISO form.
    far_unit: Option<Datatype>,
    /// Maximum number of fractional digits of seconds.
    digits: usize,
    /// The second of the earliest date.
    first: Option<i64>,
    /// The second of the latest date.
    last: Option<i64>,
}

impl Seen {
    fn push(&mut self, content: Content) {
        self.contents |= content as u16;
    }

    /// Adds a field of CSV.
    pub(super) fn add_text(&mut self, text: &str) {
        if let Some(number) = short_integer(text.as_bytes()) {
            self.push_integer(number.into());
        } else if is_plain_decimal(text.as_bytes()) {
            self.push(Content::Float);
        } else if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
            self.push(Content::Bool);
        } else if !may_be_number(text) {
            self.add_string(text);
        } else if let Ok(number) = text.parse::<i128>() {
            // A number would lose leading zeros and signs, so the value stays text.
            if number.to_string() == text { self.push_integer(number) } else { self.push(Content::Text) }
        } else if let Ok(number) = text.parse::<f64>() {
            let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
            // A float would lose digits of a long integer, and would turn a huge number into
            // infinity.
            let is_lost = digits.bytes().all(|byte| byte.is_ascii_digit())
                || number.is_infinite() && digits.starts_with(|first: char| first.is_ascii_digit() || first == '.');
            self.push(if is_lost { Content::Text } else { Content::Float });
        } else {
            self.add_string(text);
        }
    }

    /// Adds a JSON value. Ignores objects other than `{"hex":"..."}`, because the import later
    /// rejects them and reports the line.
    pub(super) fn add_json(&mut self, value: &Value) {
        match value {
            Value::Bool(_) => self.push(Content::Bool),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(number), _) => self.push_integer(number.into()),
                (None, Some(number)) => self.push_integer(number.into()),
                (None, None) => self.push(Content::Float),
            },
            Value::String(text) if matches!(text.as_str(), "NaN" | "inf" | "-inf") => self.push(Content::NotFinite),
            Value::String(text) => self.add_string(text),
            Value::Object(_) if hex_member(value).is_some() => self.push(Content::Bytes),
            // Null in an array represents NaT.
            Value::Null => self.push(Content::NotATime),
            Value::Array(_) => self.push(Content::Text),
            Value::Object(_) => {}
        }
    }

    fn push_integer(&mut self, number: i128) {
        self.push(Content::Integer);
        self.low = Some(self.low.map_or(number, |low| low.min(number)));
        self.high = Some(self.high.map_or(number, |high| high.max(number)));
    }

    fn add_string(&mut self, text: &str) {
        if text == datetime::NOT_A_TIME {
            return self.push(Content::NotATime);
        }
        if let Some(unit) = datetime::unit_of_far(text) {
            let is_other = self.far_unit.is_some_and(|other| other != unit);
            self.far_unit = Some(unit);
            return self.push(if is_other { Content::Text } else { Content::FarDate });
        }
        let text = &*in_utc(text);
        // A date begins with the digits of a year and has at least 10 characters.
        if text.len() < 10 || !text.starts_with(|first: char| first.is_ascii_digit()) {
            return self.push(Content::Text);
        }
        let digits = match text.as_bytes().get(19) {
            Some(b'.') => text.trim_end_matches(['Z', 'z']).len() - 20,
            _ => 0,
        };
        let is = |datatype| datetime::parse(datatype, text).is_some_and(|(first, last)| first <= last);
        let content = match text.len() {
            10 if is(Datatype::DatetimeDay) => Content::Day,
            11.. if is(moment(digits)) => Content::Moment,
            _ => return self.push(Content::Text),
        };
        self.push(content);
        self.digits = self.digits.max(digits);
        // The second in which the date begins.
        if let Some((second, after)) = datetime::parse(Datatype::DatetimeSec, text) {
            let second = second.min(after);
            self.first = Some(self.first.map_or(second, |first| first.min(second)));
            self.last = Some(self.last.map_or(second, |last| last.max(second)));
        }
    }

    /// Returns the type that holds all values, or `None` without values.
    ///
    /// Returns a text type for values without a common type. Fields of CSV are always valid text.
    /// The import later rejects JSON values that are not strings, and reports the line.
    pub(super) fn datatype(&self) -> Option<Datatype> {
        let only = |contents: u16| self.contents & !contents == 0;
        let some = |contents: u16| self.contents & contents != 0;
        if self.contents == 0 {
            return None;
        }
        let is_byte = || !self.is_text && self.low >= Some(0) && self.high <= Some(255);
        Some(if only(Content::Bool as u16) {
            Datatype::Bool
        } else if only(Content::Integer as u16) {
            self.integer()
        } else if only(Content::Bool as u16 | Content::Integer as u16) && is_byte() {
            // Booleans are stored as bytes, and some writers store numbers other than 0 and 1.
            Datatype::Bool
        } else if only(NUMBERS) && self.is_text && !self.is_exact() {
            Datatype::StringUtf8
        } else if only(NUMBERS) {
            Datatype::Float64
        } else if let Some(date) = self.date() {
            date
        } else if only(Content::Bytes as u16) {
            Datatype::Blob
        } else if only(STRINGS | Content::Bytes as u16) && some(Content::Bytes as u16) {
            // `Char` is the only type that accepts both text and arbitrary bytes.
            Datatype::Char
        } else {
            Datatype::StringUtf8
        })
    }

    /// Returns `true` if `f64` represents all integers exactly.
    fn is_exact(&self) -> bool {
        let most = 1_i128 << f64::MANTISSA_DIGITS;
        self.low.is_none_or(|low| low >= -most) && self.high.is_none_or(|high| high <= most)
    }

    fn integer(&self) -> Datatype {
        let fits = |low: i128, high: i128| self.low >= Some(low) && self.high <= Some(high);
        if fits(i64::MIN.into(), i64::MAX.into()) {
            Datatype::Int64
        } else if fits(0, u64::MAX.into()) {
            Datatype::UInt64
        } else if self.is_text {
            // A float would lose digits.
            Datatype::StringUtf8
        } else {
            Datatype::Float64
        }
    }

    /// Returns the datetime type with the coarsest unit that holds all dates. Returns `None` if a
    /// value is not a date, or if no unit holds all dates.
    fn date(&self) -> Option<Datatype> {
        let others = self.contents & !(DATES | Content::NotATime as u16 | Content::FarDate as u16);
        if others == 0 { self.far_unit.or_else(|| self.unit()) } else { None }
    }

    fn unit(&self) -> Option<Datatype> {
        if self.contents & Content::Moment as u16 == 0 {
            return Some(Datatype::DatetimeDay);
        }
        let per_second = 10i64.checked_pow(u32::try_from(self.digits.next_multiple_of(3)).unwrap_or(u32::MAX));
        // The following second must be representable too.
        let holds = |second: Option<i64>| {
            second.zip(per_second).is_some_and(|(second, count)| second.saturating_add(1).checked_mul(count).is_some())
        };
        (holds(self.first) && holds(self.last)).then(|| moment(self.digits))
    }
}

/// Returns the datetime type with the coarsest unit that holds this number of fractional digits of
/// seconds.
fn moment(digits: usize) -> Datatype {
    match digits {
        0 => Datatype::DatetimeSec,
        1..=3 => Datatype::DatetimeMs,
        4..=6 => Datatype::DatetimeUs,
        7..=9 => Datatype::DatetimeNs,
        10..=12 => Datatype::DatetimePs,
        13..=15 => Datatype::DatetimeFs,
        _ => Datatype::DatetimeAs,
    }
}

/// Parses an integer of at most 18 digits in canonical form. Returns `None` for any other text.
fn short_integer(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let is_number = match digits {
        [b'0'] => !is_negative,
        [b'0', ..] | [] => false,
        digits => digits.len() <= 18,
    };
    if !is_number {
        return None;
    }
    let number = digits.iter().try_fold(0, |number, digit| {
        let digit = digit.wrapping_sub(b'0');
        (digit <= 9).then(|| number * 10 + i64::from(digit))
    })?;
    Some(if is_negative { -number } else { number })
}

/// Returns `true` if the text is a decimal number with digits on both sides of the point, in the
/// range of `f64`.
fn is_plain_decimal(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let before = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match digits.get(before..) {
        Some([b'.', behind @ ..]) => {
            let is_short = (1..300).contains(&before);
            is_short && !behind.is_empty() && behind.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

/// Returns `true` if the first character may begin a number: a digit, a sign, a point, or the first
/// letter of `inf` or `nan`.
fn may_be_number(text: &str) -> bool {
    text.starts_with(|first: char| matches!(first, '0'..='9' | '+' | '-' | '.' | 'i' | 'I' | 'n' | 'N'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn short_integers_are_those_that_are_printed_alike(text in "-?[0-9]{0,20}|[-+0-9a. ]{0,4}") {
            let parsed = text.parse::<i64>().ok().filter(|number| number.to_string() == text);
            prop_assert_eq!(short_integer(text.as_bytes()), parsed.filter(|_| text.trim_start_matches('-').len() <= 18));
        }

        #[test]
        fn plain_decimals_are_floats(text in "-?[0-9]{0,20}[.a]?[0-9]{0,20}") {
            let is_float = text.parse::<f64>().is_ok_and(f64::is_finite);
            prop_assert!(!is_plain_decimal(text.as_bytes()) || is_float && text.parse::<i128>().is_err());
        }

        #[test]
        fn texts_with_other_first_characters_are_no_numbers(text in "[-+.0-9a-zA-Z ]{1,6}|\\PC{1,3}") {
            let is_number = text.parse::<i128>().is_ok() || text.parse::<f64>().is_ok();
            prop_assert!(may_be_number(&text) || !is_number);
        }
    }
}
