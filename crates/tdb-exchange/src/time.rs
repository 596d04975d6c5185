//! Parser of times and time ranges.

use tdb_array::TimeRange;
use tdb_types::Datatype;
use tdb_types::datetime::{self, WrittenError};

/// Parses a time, and returns its first millisecond since 1970.
///
/// # Errors
/// Returns the reason if the text is not a valid time.
pub fn moment(text: &str) -> Result<u64, String> {
    Ok(time(text)?.0)
}

/// Parses a time as the range of all writes up to that time. A time is a number of milliseconds
/// since 1970, or a date such as `2024-05-01T12:00Z`.
///
/// # Errors
/// Returns the reason if the text is not a valid time.
pub fn at(text: &str) -> Result<TimeRange, String> {
    Ok(TimeRange::until(time(text)?.1))
}

/// Parses a time range `FIRST..LAST`. Both ends are inclusive and optional.
///
/// # Errors
/// Returns the reason if the text is not a valid time range.
pub fn between(text: &str) -> Result<TimeRange, String> {
    let (first, last) = text.split_once("..").ok_or("write FIRST..LAST, FIRST.. or ..LAST")?;
    let last = last.strip_prefix('=').unwrap_or(last);
    let start = if first.trim().is_empty() { 0 } else { time(first)?.0 };
    let end = if last.trim().is_empty() { u64::MAX } else { time(last)?.1 };
    if start > end {
        return Err("the first time is after the last".to_owned());
    }
    Ok(TimeRange { start, end })
}

/// Returns the first and last millisecond since 1970 of a number of milliseconds, a date, or a date
/// with a time.
fn time(text: &str) -> Result<(u64, u64), String> {
    let text = text.trim();
    let (first, last) = match datetime::read(Datatype::DatetimeMs, text) {
        Ok(ends) => ends,
        Err(WrittenError::NotAValue) => match (text.parse::<jiff::Timestamp>(), text.parse::<u64>()) {
            // `jiff` parses times with a UTC offset.
            (Ok(moment), _) => (moment.as_millisecond(), moment.as_millisecond()),
            (_, Ok(far)) => return Ok((far, far)),
            _ => {
                let hint =
                    "write 2024, 2024-05-01, 2024-05-01T12:00Z or the like, or milliseconds since 1970 as in 5ms";
                return Err(format!("{text:?} is not a valid time; {hint}"));
            }
        },
        Err(why) => return Err(why.to_string()),
    };
    let positive = |value: i64| u64::try_from(value).map_err(|_| format!("{text:?} is before 1970"));
    Ok((positive(first)?, positive(last)?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn times() {
        let day = (1_714_521_600_000, 1_714_521_600_000 + 86_400_000 - 1);
        assert_eq!(time("2024-05-01"), Ok(day));
        assert_eq!(time("1_714_521_600_000"), Ok((day.0, day.0)));
        assert_eq!(time("2024-05-01T02:00:00.000Z"), Ok((day.0 + 7_200_000, day.0 + 7_200_000)));
        assert_eq!(time("2024-05-01T02:00:00+02:00"), Ok((day.0, day.0)));
        assert_eq!(at("2024-05-01"), Ok(TimeRange::until(day.1)));
        assert_eq!(between("2024-05-01..2024-05-01"), Ok(TimeRange { start: day.0, end: day.1 }));
        assert_eq!(between("..=5"), Ok(TimeRange::until(5)));
        assert_eq!(between("5.."), Ok(TimeRange { start: 5, end: u64::MAX }));
        assert!(between("6..5").unwrap_err().contains("after"));
        let year = (1_704_067_200_000, 1_735_689_599_999);
        assert_eq!(between("2024..2024"), Ok(TimeRange { start: year.0, end: year.1 }));
        assert_eq!(at("2024"), Ok(TimeRange::until(year.1)));
        assert_eq!(between("2_024..=2300ms"), Ok(TimeRange { start: 2024, end: 2300 }));
        assert_eq!(time("18446744073709551615"), Ok((u64::MAX, u64::MAX)));
        assert!(at("20240501").unwrap_err().contains("20240501ms"));
        assert!(between("5").is_err() && time("soon").is_err() && time("1969-12-31").is_err());
    }
}
