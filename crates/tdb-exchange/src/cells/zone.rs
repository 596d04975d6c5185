//! Times with a UTC offset, as in RFC 3339.

use std::borrow::Cow;

use tdb_types::{Datatype, datetime};

/// Length of a date with a time to the minute.
const MINUTE: usize = "2026-02-13T10:00".len();

/// Converts a date and time with an offset, such as `2026-02-13T10:00:00+02:00`, to UTC without an
/// offset. Returns any other text unchanged.
pub(crate) fn in_utc(text: &str) -> Cow<'_, str> {
    moved(text).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn moved(text: &str) -> Option<String> {
    if !matches!(text.as_bytes().get(10), Some(b'T' | b't' | b' ')) {
        return None;
    }
    let (local, rest) = text.split_at_checked(MINUTE)?;
    let sign = rest.find(['+', '-'])?;
    let (seconds, offset) = rest.split_at_checked(sign)?;
    let minutes = minutes(offset.get(1..)?)?;
    let minutes = if offset.starts_with('-') { -minutes } else { minutes };
    let (first, last) = datetime::parse(Datatype::DatetimeMin, local)?;
    let moved = datetime::format(Datatype::DatetimeMin, first.checked_sub(minutes)?)?;
    (first == last).then(|| format!("{}{seconds}", moved.get(..MINUTE).unwrap_or_default()))
}

/// Returns the minutes of `02:00`, `0200` or `02`.
fn minutes(text: &str) -> Option<i64> {
    let digits = |text: &str, most: i64| -> Option<i64> {
        let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok())?.filter(|number| *number <= most)
    };
    let (hours, rest) = text.split_at_checked(2)?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let minutes = if text.len() == 2 { 0 } else { digits(rest, 59)? };
    Some(60 * digits(hours, 23)? + minutes)
}

#[cfg(test)]
mod tests {
    use super::in_utc;

    #[test]
    fn offsets_are_converted_to_utc() {
        for (text, utc) in [
            ("2026-02-13T10:00:00+02:00", "2026-02-13T08:00:00"),
            ("2026-02-13T23:30:59.125-05:45", "2026-02-14T05:15:59.125"),
            ("2026-01-01 00:00+0100", "2025-12-31T23:00"),
            ("2026-01-01t00:00:00-00", "2026-01-01T00:00:00"),
            ("0000-01-01T00:00:00+00:01", "0000-01-01T00:00:00+00:01"),
        ] {
            assert_eq!(in_utc(text), utc);
        }
        let others = ["2026-02-13", "2026-02-13T10:00:00Z", "2026-02-13T10:00+24:00", "2026-02-13T10:00+2:00", "", "é"];
        for text in others.into_iter().chain(["2026-02-13T10:00:00+", "2026-02-13T10:00:00+02:00:00"]) {
            assert_eq!(in_utc(text), text);
        }
    }
}
