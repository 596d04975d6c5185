//! The options that say when to look at an array or group.

use tdb_array::{Names, TimeRange};
use tdb_types::{Datatype, datetime};

/// When to look.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct TimeArgs {
    /// Look at it as it was at a time: milliseconds since 1970, or a date such as 2024-05-01T12:00Z
    #[arg(long, value_name = "TIME", value_parser = at, conflicts_with = "between")]
    at: Option<TimeRange>,

    /// Look only at what was written between two times, both included; either may be left out
    #[arg(long, value_name = "FIRST..LAST", value_parser = between)]
    between: Option<TimeRange>,
}

impl TimeArgs {
    /// That time.
    pub(crate) fn of(time: TimeRange) -> Self {
        Self { at: Some(time), between: None }
    }

    /// The time asked for; none for now.
    pub(crate) fn range(&self) -> Option<TimeRange> {
        self.at.or(self.between)
    }
}

/// When something is said to be written.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Stamp {
    /// Say that it is written at a time other than now: milliseconds since 1970, or a date such as 2024-05-01T12:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    timestamp: Option<u64>,
}

impl Stamp {
    /// Where the names of new files come from.
    pub(crate) fn names(&self) -> Names {
        match self.timestamp {
            Some(time) => Names::new().at(time),
            None => Names::new(),
        }
    }
}

/// A range of time for what can't be undone: a number that looks like a year is no number of milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WithinDates(pub(crate) TimeRange);

impl std::str::FromStr for WithinDates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_year = |end: &&str| end.len() == 4 && matches!(end.parse(), Ok(1900..=2199));
        let ends = text.split("..").map(|end| end.trim_start_matches('=').trim());
        match ends.into_iter().find(is_year) {
            Some(year) => {
                let (thousands, rest) = year.split_at(1);
                Err(format!(
                    "{year} would be milliseconds since 1970; write {year}-01-01, or {thousands}_{rest} for milliseconds"
                ))
            }
            None => between(text).map(Self),
        }
    }
}

fn moment(text: &str) -> Result<u64, String> {
    Ok(time(text)?.0)
}

/// A time as people write it: milliseconds since 1970, or a date such as `2024-05-01T12:00Z`; all that was written until then.
///
/// # Errors
/// What is wrong with the text.
pub fn at(text: &str) -> Result<TimeRange, String> {
    Ok(TimeRange::until(time(text)?.1))
}

fn between(text: &str) -> Result<TimeRange, String> {
    let (first, last) = text.split_once("..").ok_or("write FIRST..LAST, FIRST.. or ..LAST")?;
    let last = last.strip_prefix('=').unwrap_or(last);
    let start = if first.trim().is_empty() { 0 } else { time(first)?.0 };
    let end = if last.trim().is_empty() { u64::MAX } else { time(last)?.1 };
    if start > end {
        return Err("the first time is after the last".to_owned());
    }
    Ok(TimeRange { start, end })
}

/// The first and the last millisecond since 1970 of what `text` names: a number of them, a date, or a moment.
fn time(text: &str) -> Result<(u64, u64), String> {
    let text = text.trim();
    if let Ok(milliseconds) = text.replace('_', "").parse() {
        return Ok((milliseconds, milliseconds));
    }
    // Moments that have an offset from UTC are for the library that knows these.
    let moment = || text.parse::<jiff::Timestamp>().ok().map(|time| (time.as_millisecond(), time.as_millisecond()));
    let (first, last) = datetime::parse(Datatype::DatetimeMs, text).or_else(moment).ok_or_else(|| {
        format!("{text:?} is no time; write milliseconds since 1970, 2024-05-01, 2024-05-01T12:00Z or the like")
    })?;
    let positive = |value: i64| u64::try_from(value).map_err(|_| format!("{text:?} lies before 1970"));
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
        assert!("2024..".parse::<WithinDates>().unwrap_err().contains("2024-01-01"));
        assert_eq!("2_024..=2300".parse::<WithinDates>().unwrap().0, TimeRange { start: 2024, end: 2300 });
        assert!(between("5").is_err() && time("soon").is_err() && time("1969-12-31").is_err());
    }
}
