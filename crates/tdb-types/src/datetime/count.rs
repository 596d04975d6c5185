//! Numbers of units since 1970, for input and for dates without an ISO form.

use std::fmt::{self, Display, Formatter};

use crate::Datatype;

/// The datetime datatypes, each with NumPy's suffix of its unit and the unit's plural.
const UNITS: [(Datatype, &str, &str); 13] = [
    (Datatype::DatetimeYear, "Y", "years"),
    (Datatype::DatetimeMonth, "M", "months"),
    (Datatype::DatetimeWeek, "W", "weeks"),
    (Datatype::DatetimeDay, "D", "days"),
    (Datatype::DatetimeHr, "h", "hours"),
    (Datatype::DatetimeMin, "m", "minutes"),
    (Datatype::DatetimeSec, "s", "seconds"),
    (Datatype::DatetimeMs, "ms", "milliseconds"),
    (Datatype::DatetimeUs, "us", "microseconds"),
    (Datatype::DatetimeNs, "ns", "nanoseconds"),
    (Datatype::DatetimePs, "ps", "picoseconds"),
    (Datatype::DatetimeFs, "fs", "femtoseconds"),
    (Datatype::DatetimeAs, "as", "attoseconds"),
];

/// The reason why a text is not a value of a datatype.
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
    /// The suffix of the text is not the unit of the datatype.
    OtherUnit {
        /// The text.
        text: String,
        /// The datetime datatype.
        datatype: Datatype,
    },
}

/// Prints the cause and a suggested spelling.
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
                write!(
                    f,
                    "{text:?} has a unit other than that of {datatype}: write a number of {plural}, as in 7{suffix}"
                )
            }
        }
    }
}

impl std::error::Error for WrittenError {}

/// Returns the suffix and the plural of a datatype's unit.
pub(super) fn unit(datatype: Datatype) -> Option<(&'static str, &'static str)> {
    UNITS.iter().find(|(known, ..)| *known == datatype).map(|(_, suffix, plural)| (*suffix, *plural))
}

/// Returns the datatype whose unit is the suffix of `text`.
pub(super) fn datatype(text: &str) -> Option<Datatype> {
    let suffix = text.trim_start_matches(|sign: char| sign == '-' || sign.is_ascii_digit());
    UNITS.iter().find(|(_, known, _)| *known == suffix).map(|(datatype, ..)| *datatype)
}

/// Reads a number of units since 1970. Returns `None` for a year and for text that is not a number.
pub(super) fn read(datatype: Datatype, text: &str) -> Result<Option<i64>, WrittenError> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = unsigned.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'_').count();
    let (number, suffix) = text.split_at(text.len() - unsigned.len() + digits);
    if !suffix.is_empty() && UNITS.iter().all(|(_, known, _)| *known != suffix) {
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
