//! Numbers of units since 1970, as people write them and as dates without an ISO form are printed.

use std::fmt::{self, Display, Formatter};

use crate::Datatype;

/// The datatypes of dates, each with the name of its unit as NumPy has it, and its plural.
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

/// Why a text is no value of a datatype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenError {
    /// The text is no value of the datatype.
    NotAValue,
    /// The text is a number that looks like a date written without dashes.
    Ambiguous {
        /// The text.
        text: String,
        /// The datatype, one of dates.
        datatype: Datatype,
    },
    /// The text counts other units than the datatype.
    OtherUnit {
        /// The text.
        text: String,
        /// The datatype, one of dates.
        datatype: Datatype,
    },
}

/// Says what is wrong, and how to write what may be meant.
impl Display for WrittenError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAValue => f.write_str("it is not a value of that type"),
            Self::Ambiguous { text, datatype } => {
                let (suffix, plural) = unit(*datatype).unwrap_or_default();
                write!(f, "{text:?} may be a date or a number of {plural}: ")?;
                write!(f, "write a date as in 2024-05-01, or {text}{suffix} for {plural} since 1970")
            }
            Self::OtherUnit { text, datatype } => {
                let (suffix, plural) = unit(*datatype).unwrap_or_default();
                write!(f, "{text:?} counts other units than {datatype}: write a number of {plural}, as in 7{suffix}")
            }
        }
    }
}

impl std::error::Error for WrittenError {}

/// The name of a datatype's unit, and its plural.
pub(super) fn unit(datatype: Datatype) -> Option<(&'static str, &'static str)> {
    UNITS.iter().find(|(known, ..)| *known == datatype).map(|(_, suffix, plural)| (*suffix, *plural))
}

/// The datatype that counts the units that a text ends with.
pub(super) fn datatype(text: &str) -> Option<Datatype> {
    let suffix = text.trim_start_matches(|sign: char| sign == '-' || sign.is_ascii_digit());
    UNITS.iter().find(|(_, known, _)| *known == suffix).map(|(datatype, ..)| *datatype)
}

/// The number of units since 1970 that a text names; `None` if it is no number, or a year.
pub(super) fn read(datatype: Datatype, text: &str) -> Result<Option<i64>, WrittenError> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = unsigned.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'_').count();
    let (number, suffix) = text.split_at(text.len() - unsigned.len() + digits);
    if !suffix.is_empty() && UNITS.iter().all(|(_, known, _)| *known != suffix) {
        return Ok(None);
    }
    // Nobody groups the digits of a date.
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
