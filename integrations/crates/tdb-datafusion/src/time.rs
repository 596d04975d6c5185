//! Times in statements.

use tdb_array::TimeRange;
use tdb_array::tdb_types::{Datatype, datetime};

/// Returns the first and last millisecond since 1970 of a date or number, or `None` if the text is
/// neither.
pub(crate) fn moment(text: &str) -> Option<(u64, u64)> {
    let (first, last) = datetime::read(Datatype::DatetimeMs, text.trim()).ok()?;
    Some((first.try_into().ok()?, last.try_into().ok()?))
}

/// Parses `FIRST..LAST`, inclusive. Both ends are optional.
pub(crate) fn between(text: &str) -> Option<TimeRange> {
    let (first, last) = text.split_once("..")?;
    let start = if first.trim().is_empty() { 0 } else { moment(first)?.0 };
    let end = if last.trim().is_empty() { u64::MAX } else { moment(last)?.1 };
    (start <= end).then_some(TimeRange { start, end })
}

/// Splits a table name with a time after an `@`. Returns `None` for other names.
pub(crate) fn of_name(name: &str) -> Option<(&str, TimeRange)> {
    let (uri, time) = name.rsplit_once('@')?;
    Some((uri, TimeRange::until(moment(time)?.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_numbers_dates_and_moments() {
        assert_eq!(moment("1_700_000_000_000"), Some((1_700_000_000_000, 1_700_000_000_000)));
        assert_eq!(moment("1970"), Some((0, 365 * 86_400_000 - 1)));
        assert_eq!(moment("5ms"), Some((5, 5)));
        assert_eq!(moment("20240501"), None);
        assert_eq!(moment("1970-01-02"), Some((86_400_000, 2 * 86_400_000 - 1)));
        assert_eq!(moment("1960-01-02"), None);
        assert_eq!(moment("yesterday"), None);
        assert_eq!(between("..5"), Some(TimeRange::until(5)));
        assert_eq!(between("6..5"), None);
        assert_eq!(of_name("s3://me@bucket/a@7"), Some(("s3://me@bucket/a", TimeRange::until(7))));
        assert_eq!(of_name("s3://me@bucket/a"), None);
    }
}
