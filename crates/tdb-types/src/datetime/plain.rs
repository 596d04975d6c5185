//! Arithmetic fast path for the common forms of dates: days, and times of day to the second.

/// Seconds per day.
const DAY: i64 = 86_400;

/// A span of one day or one second. `start` is in seconds since 1970, `len` in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    start: i64,
    len: i64,
}

impl Span {
    /// Parses a day (`2024-05-01`) or a second (`2024-05-01T12:00:00`) in ISO 8601. Returns `None`
    /// for all other forms, which may still be valid dates.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (date, time) = match text.as_bytes() {
            text @ [_, _, _, _, b'-', _, _, b'-', _, _] => (text, None),
            [date @ .., b'T' | b' ', h, g, b':', m, n, b':', s, t] if date.len() == 10 => {
                (date, Some([[*h, *g], [*m, *n], [*s, *t]]))
            }
            _ => return None,
        };
        let &[a, b, c, d, b'-', e, f, b'-', g, h] = date else { return None };
        let day = day_number(100 * number([a, b])? + number([c, d])?, number([e, f])?, number([g, h])?)?;
        let Some([hour, minute, second]) = time else { return Some(Self { start: day * DAY, len: DAY }) };
        let [hour, minute, second] = [number(hour)?, number(minute)?, number(second)?];
        let is_time = hour < 24 && minute < 60 && second < 60;
        is_time.then(|| Self { start: day * DAY + hour * 3_600 + minute * 60 + second, len: 1 })
    }

    /// Returns the first and the last unit that begin in the span, for units of `seconds` seconds.
    /// The first is greater than the last if no unit begins in the span.
    pub(super) fn in_units_of(self, seconds: i64) -> (i64, i64) {
        ((self.start - 1).div_euclid(seconds) + 1, (self.start + self.len - 1).div_euclid(seconds))
    }

    /// Returns the first and the last fraction of a second in the span, at `per_second` fractions
    /// per second. Returns `None` on overflow.
    pub(super) fn in_parts(self, per_second: i64) -> Option<(i64, i64)> {
        Some((self.start.checked_mul(per_second)?, (self.start + self.len).checked_mul(per_second)? - 1))
    }
}

/// Appends a number of seconds since 1970 to `out` in ISO 8601, with or without the time of day.
/// Returns `false` and appends nothing if the year is not in 0 to 9999.
pub(super) fn push(second: i64, has_time: bool, out: &mut String) -> bool {
    let Some((year, month, day)) = date_of(second.div_euclid(DAY)) else { return false };
    let of_day = second.rem_euclid(DAY);
    push_two(year / 100, out);
    push_two(year % 100, out);
    let mut push = |before: char, number: i64| {
        out.push(before);
        push_two(number, out);
    };
    push('-', month);
    push('-', day);
    if has_time {
        push('T', of_day / 3_600);
        push(':', of_day / 60 % 60);
        push(':', of_day % 60);
    }
    true
}

fn push_two(number: i64, out: &mut String) {
    for digit in [number / 10, number % 10] {
        out.push(char::from(b'0' + (digit % 10) as u8));
    }
}

/// Parses two decimal digits.
fn number(digits: [u8; 2]) -> Option<i64> {
    let [tens, ones] = digits.map(|digit| digit.wrapping_sub(b'0'));
    (tens <= 9 && ones <= 9).then(|| i64::from(10 * tens + ones))
}

/// Returns the number of days before a month, in a year that starts with March as month 0.
fn days_before(month: i64) -> i64 {
    (153 * month + 2) / 5
}

/// Returns the number of days from 1970 to a date with a year from 0 to 9999, or `None` for an
/// invalid date.
fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=days).contains(&day) {
        return None;
    }
    // Counting years from March makes the leap day the last day of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(365 * year + leap_days + days_before(month) + day - 1 - TO_1970)
}

/// Days from March 1 of year 0 to 1970-01-01.
const TO_1970: i64 = 719_468;
/// Days in 400 years.
const CYCLE: i64 = 146_097;

/// Returns year, month and day of a day number since 1970, or `None` if the year is not in 0 to
/// 9999.
fn date_of(day: i64) -> Option<(i64, i64, i64)> {
    let day = day.checked_add(TO_1970)?;
    let (cycle, day) = (day.div_euclid(CYCLE), day.rem_euclid(CYCLE));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, year) = (day - days_before(month) + 1, cycle * 400 + year);
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    (0..=9999).contains(&year).then_some((year, month, day))
}
