//! Conversion between ISO 8601 text and the stored integers of datetimes.
//!
//! This module needs the feature `datetime`, which adds the crate `jiff`.
//!
//! [`read`] distinguishes ISO 8601 text from numbers:
//! - Exactly four digits are a year.
//! - Digits followed by a NumPy unit are a number of units since 1970: `19724D`.
//! - Digits without a unit are also a number of units. Numbers that look like a date are rejected:
//!   5 to 8 digits, or 4 digits with a sign. Digits with underscores never look like a date.
//!
//! A datetime is stored as a number of units since 1970-01-01 00:00, without a time zone. The
//! minimum `i64` is "not a time" (NumPy's `NaT`). It is also the fill value of these datatypes.

mod count;
mod plain;

use count::Unit;
pub use count::WrittenError;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::{Datatype, Scalar};

/// The text for "not a time".
pub const NOT_A_TIME: &str = "NaT";

/// Attoseconds per second. Instants are counted in attoseconds, in 128 bits, so that every unit is
/// exact.
const PER_SECOND: i128 = 1_000_000_000_000_000_000;
const EPOCH: Date = Date::constant(1970, 1, 1);

fn unit(datatype: Datatype) -> Option<Unit> {
    count::row(datatype).map(|(_, unit, ..)| *unit)
}

/// Formats a datetime in ISO 8601, to the precision of its unit. Formats the minimum `i64` as
/// [`NOT_A_TIME`]. Returns `None` if the year is not in 0000 to 9999, or if the datatype is not a
/// datetime.
#[must_use]
pub fn format(datatype: Datatype, value: i64) -> Option<String> {
    let unit = unit(datatype)?;
    if value == i64::MIN {
        return Some(NOT_A_TIME.to_owned());
    }
    match unit {
        Unit::Years => {
            let year = value.checked_add(1970).filter(|year| (0..=9999).contains(year))?;
            Some(format!("{year:04}"))
        }
        Unit::Months => {
            let months = value.checked_add(1970 * 12).filter(|months| (0..12 * 10_000).contains(months))?;
            Some(format!("{:04}-{:02}", months / 12, months % 12 + 1))
        }
        Unit::Days(seconds) => text(value.checked_mul(seconds)?, false),
        Unit::Seconds(seconds) => text(value.checked_mul(seconds)?, true),
        Unit::Fraction(digits) => {
            let per_second = 10i64.pow(digits);
            let moment = text(value.div_euclid(per_second), true)?;
            let width = digits as usize;
            Some(format!("{moment}.{:0width$}", value.rem_euclid(per_second)))
        }
    }
}

/// Formats a datetime as [`read`] accepts it: in ISO 8601, or as a number of units if the year is
/// not in 0000 to 9999. Returns `None` for datatypes other than datetimes.
#[must_use]
pub fn display(datatype: Datatype, value: i64) -> Option<String> {
    let (.., suffix, _) = count::row(datatype)?;
    Some(format(datatype, value).unwrap_or_else(|| format!("{value}{suffix}")))
}

/// Returns the datatype for which [`display`] prints this number of units, such as `datetime_year`
/// for `8030Y`. Returns `None` for all other text, including numbers of units that have an ISO
/// form.
#[must_use]
pub fn unit_of_far(text: &str) -> Option<Datatype> {
    let datatype = count::datatype(text)?;
    let value = count::read(datatype, text).ok()??;
    (format(datatype, value).is_none() && display(datatype, value)? == text).then_some(datatype)
}

/// Formats a number of seconds since 1970 in ISO 8601, with or without the time of day. Returns
/// `None` if the year is not in 0000 to 9999.
fn text(second: i64, has_time: bool) -> Option<String> {
    let mut text = String::with_capacity("2024-05-01T12:00:00".len());
    plain::push(second, has_time, &mut text).then_some(text)
}

/// Formats a timestamp of a fragment name, in milliseconds since 1970, as ISO 8601 in UTC:
/// `2024-05-01T12:00:00.123Z`. Returns `None` if the year exceeds 9999.
#[must_use]
pub fn timestamp(milliseconds: u64) -> Option<String> {
    let milliseconds = i64::try_from(milliseconds).ok()?;
    format(Datatype::DatetimeMs, milliseconds).map(|text| format!("{text}Z"))
}

/// Parses an ISO 8601 year, month or day, or a day with a time of up to 18 fractional digits.
///
/// Returns the first and the last value of the datatype within the period. The first is greater
/// than the last if no value begins within the period.
///
/// Returns `None` if `text` is not a date or exceeds the range of the datatype, or if the datatype
/// is not a datetime.
#[must_use]
pub fn parse(datatype: Datatype, text: &str) -> Option<(i64, i64)> {
    let unit = unit(datatype)?;
    if let Some(span) = plain::Span::parse(text) {
        let units = match unit {
            Unit::Days(seconds) | Unit::Seconds(seconds) => Some(span.in_units_of(seconds)),
            Unit::Fraction(digits) => span.in_parts(10i64.pow(digits)),
            Unit::Years | Unit::Months => None,
        };
        if units.is_some() {
            return units;
        }
    }
    parse_any(unit, text)
}

/// Parses any date, like [`parse`] but without the fast path.
fn parse_any(unit: Unit, text: &str) -> Option<(i64, i64)> {
    let (first, last) = period(text)?;
    // The first unit that begins at or after an instant follows the unit that contains the
    // preceding attosecond.
    Some((unit_at(unit, first - 1)?.checked_add(1)?, unit_at(unit, last)?))
}

/// The values of a datatype denoted by a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Written {
    /// A single value: a number, a boolean, or a date that denotes a single unit.
    One(Scalar),
    /// The first and the last value within a period coarser or finer than the unit, such as a month
    /// for `datetime_day`.
    ///
    /// The first is greater than the last if no value begins within the period.
    Period(i64, i64),
}

/// Reads a date in ISO 8601, `NaT`, or a number of units since 1970.
///
/// Returns the first and the last value of the datatype within the period, as [`parse`] does.
///
/// ```
/// use tdb_types::Datatype;
/// use tdb_types::datetime::read;
///
/// assert_eq!(read(Datatype::DatetimeDay, "2024"), Ok((19_723, 20_088)));
/// assert_eq!(read(Datatype::DatetimeDay, "19723D"), Ok((19_723, 19_723)));
/// assert_eq!(read(Datatype::DatetimeMs, "1700000000000"), Ok((1_700_000_000_000, 1_700_000_000_000)));
/// let error = read(Datatype::DatetimeDay, "20240501").unwrap_err().to_string();
/// assert!(error.ends_with("write a date as in 2024-05-01, or 20240501D for days since 1970"));
/// ```
///
/// # Errors
/// Fails if the datatype is not a datetime, or if the text is not a date or exceeds the range of
/// the datatype. Also fails if the text could be either a date or a number, or counts units of
/// another datatype.
pub fn read(datatype: Datatype, text: &str) -> Result<(i64, i64), WrittenError> {
    if !datatype.is_datetime() {
        return Err(WrittenError::NotAValue);
    }
    if text == NOT_A_TIME {
        return Ok((i64::MIN, i64::MIN));
    }
    match count::read(datatype, text)? {
        Some(value) => Ok((value, value)),
        None => parse(datatype, text).ok_or(WrittenError::NotAValue),
    }
}

/// Reads a value of any datatype.
///
/// Accepts decimal numbers, `true` and `false` for `bool`, and dates as in [`read`]. Underscores in
/// numbers are ignored.
///
/// ```
/// use tdb_types::datetime::{Written, WrittenError, written};
/// use tdb_types::{Datatype, Scalar};
///
/// assert_eq!(written(Datatype::UInt16, "1_000"), Ok(Written::One(Scalar::U16(1000))));
/// assert_eq!(written(Datatype::UInt16, "70000"), Err(WrittenError::NotAValue));
/// assert_eq!(written(Datatype::DatetimeDay, "1970-01-03"), Ok(Written::One(Scalar::I64(2))));
/// assert_eq!(written(Datatype::DatetimeDay, "1970-02"), Ok(Written::Period(31, 58)));
/// ```
///
/// # Errors
/// Fails if the text is not a value of the datatype, and with the other errors of [`read`] for
/// datetimes.
pub fn written(datatype: Datatype, text: &str) -> Result<Written, WrittenError> {
    if datatype.is_datetime() {
        let (first, last) = read(datatype, text)?;
        return Ok(if first == last { Written::One(Scalar::I64(first)) } else { Written::Period(first, last) });
    }
    let value = match text {
        "false" | "true" if datatype == Datatype::Bool => Some(Scalar::U8(u8::from(text == "true"))),
        text => Scalar::parse(datatype.physical(), &text.replace('_', "")),
    };
    value.map(Written::One).ok_or(WrittenError::NotAValue)
}

/// Returns the number of the unit that contains an instant, counted from 1970. Returns `None` on
/// overflow.
fn unit_at(unit: Unit, instant: i128) -> Option<i64> {
    let second = i64::try_from(instant.div_euclid(PER_SECOND)).ok()?;
    match unit {
        Unit::Years => Some(i64::from(civil_any(second)?.year()) - 1970),
        Unit::Months => {
            let datetime = civil_any(second)?;
            Some((i64::from(datetime.year()) - 1970) * 12 + i64::from(datetime.month()) - 1)
        }
        Unit::Days(seconds) | Unit::Seconds(seconds) => Some(second.div_euclid(seconds)),
        Unit::Fraction(digits) => {
            let attoseconds = PER_SECOND / 10i128.pow(digits);
            i64::try_from(instant.div_euclid(attoseconds)).ok()
        }
    }
}

fn civil_any(seconds: i64) -> Option<DateTime> {
    match Timestamp::from_second(seconds) {
        Ok(timestamp) => Some(TimeZone::UTC.to_datetime(timestamp)),
        // `Timestamp` omits about a day at each end of the range of `DateTime`, so that its date is
        // valid in every time zone.
        Err(_) => EPOCH.to_datetime(Time::midnight()).checked_add(SignedDuration::from_secs(seconds)).ok(),
    }
}

/// Returns the first and the last attosecond of the period that `text` denotes, or `None` if `text`
/// is not a date.
fn period(text: &str) -> Option<(i128, i128)> {
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let year: i16 = digits(parts.next()?, 4)?;
    let month: Option<i8> = parts.next().map(|part| digits(part, 2).ok_or(())).transpose().ok()?;
    let day: Option<i8> = parts.next().map(|part| digits(part, 2).ok_or(())).transpose().ok()?;
    if parts.next().is_some() || (time.is_some() && day.is_none()) {
        return None;
    }
    let start = Date::new(year, month.unwrap_or(1), day.unwrap_or(1)).ok()?;
    if let Some(time) = time {
        let (offset, length) = time_of_day(time)?;
        let start = seconds(start) * PER_SECOND + offset;
        return Some((start, start + length - 1));
    }
    let last = match (month, day) {
        (None, _) => start.last_of_year(),
        (_, None) => start.last_of_month(),
        _ => start,
    };
    Some((seconds(start) * PER_SECOND, (seconds(last) + 86_400) * PER_SECOND - 1))
}

/// Returns the seconds from 1970 to the start of a day.
fn seconds(date: Date) -> i128 {
    i128::from(EPOCH.duration_until(date).as_secs())
}

/// Returns the start of a time of day, counted from midnight, and its length. Both are in
/// attoseconds.
fn time_of_day(text: &str) -> Option<(i128, i128)> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let (hour, minute, second, length): (i8, i8, i8, i128) = match *parts.as_slice() {
        [hour] => (digits(hour, 2)?, 0, 0, 3_600),
        [hour, minute] => (digits(hour, 2)?, digits(minute, 2)?, 0, 60),
        [hour, minute, second] => (digits(hour, 2)?, digits(minute, 2)?, digits(second, 2)?, 1),
        _ => return None,
    };
    let time = Time::new(hour, minute, second, 0).ok()?;
    let seconds = i128::from(time.hour()) * 3_600 + i128::from(time.minute()) * 60 + i128::from(time.second());
    let Some(fraction) = fraction else {
        return Some((seconds * PER_SECOND, length * PER_SECOND));
    };
    if parts.len() != 3 || fraction.is_empty() || fraction.len() > 18 {
        return None;
    }
    let value: i128 = digits(fraction, fraction.len())?;
    let length = PER_SECOND / 10i128.pow(u32::try_from(fraction.len()).ok()?);
    Some((seconds * PER_SECOND + value * length, length))
}

/// Parses exactly `count` decimal digits.
fn digits<T: std::str::FromStr>(text: &str, count: usize) -> Option<T> {
    (text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests;
