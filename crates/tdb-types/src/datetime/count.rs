//! Numbers of units since 1970, for input and for dates without an ISO form.

use std::fmt::{self, Display, Formatter};

use crate::Datatype;

/// The length of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Years,
    Months,
    /// A fixed number of seconds, at least one day.
    Days(i64),
    /// A fixed number of seconds, less than one day.
    Seconds(i64),
    /// A decimal fraction of a second, with this number of digits.
    Fraction(u32),
}

/// The datetime datatypes in order of their codes, each with its unit, NumPy's suffix for the unit,
/// and the plural of the unit's name.
pub(super) static UNITS: [(Datatype, Unit, &str, &str); 13] = [
    (Datatype::DatetimeYear, Unit::Years, "Y", "years"),
    (Datatype::DatetimeMonth, Unit::Months, "M", "months"),
    (Datatype::DatetimeWeek, Unit::Days(7 * 86_400), "W", "weeks"),
    (Datatype::DatetimeDay, Unit::Days(86_400), "D", "days"),
    (Datatype::DatetimeHr, Unit::Seconds(3_600), "h", "hours"),
    (Datatype::DatetimeMin, Unit::Seconds(60), "m", "minutes"),
    (Datatype::DatetimeSec, Unit::Seconds(1), "s", "seconds"),
    (Datatype::DatetimeMs, Unit::Fraction(3), "ms", "milliseconds"),
    (Datatype::DatetimeUs, Unit::Fraction(6), "us", "microseconds"),
    (Datatype::DatetimeNs, Unit::Fraction(9), "ns", "nanoseconds"),
    (Datatype::DatetimePs, Unit::Fraction(12), "ps", "picoseconds"),
    (Datatype::DatetimeFs, Unit::Fraction(15), "fs", "femtoseconds"),
    (Datatype::DatetimeAs, Unit::Fraction(18), "as", "attoseconds"),
];

/// The reason why a text is rejected as a value of a datatype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenError {
    /// The text is not a value of the datatype.
    NotAValue,
    /// The text is a number that looks like a date without dashes.
    Ambiguous {
        /// The text.
        text: String,
        /// The datetime datatype.
        datatype: Datatype,
    },
    /// The suffix of the text is the unit of another datatype.
    OtherUnit {
        /// The text.
        text: String,
        /// The datetime datatype.
        datatype: Datatype,
    },
}

/// Prints the cause and, for numbers, a suggested spelling.
impl Display for WrittenError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAValue => f.write_str("not a value of that type"),
            Self::Ambiguous { text, datatype } => {
                let (suffix, plural) = unit(*datatype).unwrap_or_default();
                write!(f, "{text:?} is ambiguous: it may be a date or a number of {plural}; ")?;
                write!(f, "write a date as in 2024-05-01, or {text}{suffix} for {plural} since 1970")
            }
            Self::OtherUnit { text, datatype } => {
                let (suffix, plural) = unit(*datatype).unwrap_or_default();
                write!(f, "{text:?} is not in the unit of {datatype}; write a number of {plural}, as in 7{suffix}")
            }
        }
    }
}

impl std::error::Error for WrittenError {}

/// Returns the row of a datetime datatype, or `None` for other datatypes.
pub(super) fn row(datatype: Datatype) -> Option<&'static (Datatype, Unit, &'static str, &'static str)> {
    UNITS.get(usize::from(datatype.code().checked_sub(Datatype::DatetimeYear.code())?))
}

/// Returns the suffix and the plural of a datetime datatype's unit.
fn unit(datatype: Datatype) -> Option<(&'static str, &'static str)> {
    row(datatype).map(|(.., suffix, plural)| (*suffix, *plural))
}

/// Returns the datatype whose unit has the suffix of `text`.
pub(super) fn datatype(text: &str) -> Option<Datatype> {
    let suffix = text.trim_start_matches(|sign: char| sign == '-' || sign.is_ascii_digit());
    UNITS.iter().find(|(_, _, known, _)| *known == suffix).map(|(datatype, ..)| *datatype)
}

/// Reads a number of units since 1970. Returns `None` for a year, and for text that is not a number
/// in the range of `i64`.
pub(super) fn read(datatype: Datatype, text: &str) -> Result<Option<i64>, WrittenError> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = unsigned.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'_').count();
    let (number, suffix) = text.split_at(text.len() - unsigned.len() + digits);
    if !suffix.is_empty() && UNITS.iter().all(|(_, _, known, _)| *known != suffix) {
        return Ok(None);
    }
    // A number with underscores cannot be a date.
    let is_grouped = number.contains('_');
    let parsed = if is_grouped { number.replace('_', "").parse() } else { number.parse() };
    let Ok(parsed) = parsed else { return Ok(None) };
    match (suffix, digits, unsigned.len() == text.len()) {
        ("", 4, true) if !is_grouped => Ok(None),
        ("", 4..=8, _) if !is_grouped => Err(WrittenError::Ambiguous { text: text.to_owned(), datatype }),
        ("", ..) => Ok(Some(parsed)),
        _ if unit(datatype).is_some_and(|(own, _)| own == suffix) => Ok(Some(parsed)),
        _ => Err(WrittenError::OtherUnit { text: text.to_owned(), datatype }),
    }
}
