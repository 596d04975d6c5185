//! Parsing of names and numbers printed by `Display`.

use std::str::FromStr;

use crate::{ArrayType, CellValNum, DataOrder, Datatype, Encryption, FormatVersion, Layout, TimestampedName};

/// The error for a text that does not match the `Display` output of a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not a valid {what}{}", known(.names))]
pub struct ParseNameError {
    what: &'static str,
    found: String,
    names: &'static [&'static str],
}

/// Lists the valid names, if they are few enough for a message.
fn known(names: &[&str]) -> String {
    if names.is_empty() { String::new() } else { format!("; expected {}", names.join(", ")) }
}

impl ParseNameError {
    /// Creates an error that states that `found` is not a valid `what`. `names` lists the valid
    /// names, or is empty to omit the list.
    #[cold]
    #[must_use]
    pub fn new(what: &'static str, found: &str, names: &'static [&'static str]) -> Self {
        Self { what, found: found.to_owned(), names }
    }

    /// Returns the expected kind of value, such as `datatype`.
    #[must_use]
    pub fn what(&self) -> &'static str {
        self.what
    }

    /// Returns the rejected text.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.found
    }
}

macro_rules! by_name {
    ($($type:ident, $what:literal, $names:expr;)*) => {$(
        impl FromStr for $type {
            type Err = ParseNameError;

            /// Parses a name exactly as [`Display`](std::fmt::Display) prints it.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let mut all = Self::ALL.iter().copied();
                all.find(|value| value.name() == text).ok_or_else(|| ParseNameError::new($what, text, $names))
            }
        }
    )*};
}

by_name! {
    // Too many names to list.
    Datatype, "datatype", &[];
    ArrayType, "array type", &["dense", "sparse"];
    Layout, "layout", &["row-major", "col-major", "global", "unordered", "hilbert"];
    DataOrder, "data order", &["unordered", "increasing", "decreasing"];
    Encryption, "encryption", &["none", "aes-256-gcm"];
}

impl FromStr for CellValNum {
    type Err = ParseNameError;

    /// Parses a number of at least 1, or `var`. Accepts leading zeros.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = match text {
            "var" => Some(Self::Var),
            // In files, all bits set mean "variable", never a number.
            digits => number(digits).filter(|number| *number != Self::VAR_CODE).and_then(Self::from_code),
        };
        number.ok_or_else(|| ParseNameError::new("number of values per cell", text, &["var", "a number of at least 1"]))
    }
}

impl FromStr for FormatVersion {
    type Err = ParseNameError;

    /// Parses a known version number. Accepts leading zeros.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let version = number(text).and_then(|number| Self::new(number).ok());
        version.ok_or_else(|| ParseNameError::new("format version", text, &[]))
    }
}

impl FromStr for TimestampedName {
    type Err = ParseNameError;

    /// Parses the last component of a path, with or without extension, like [`parse`](Self::parse).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text).ok_or_else(|| ParseNameError::new("timestamped name", text, &[]))
    }
}

/// Parses decimal digits. `parse` would also accept a leading plus sign.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Display};

    use proptest::prelude::*;

    use super::*;
    use crate::NameForm;

    /// Checks that the printed text parses to the same value, and that similar texts are rejected.
    fn comes_back<T: FromStr<Err: Debug> + Display + Debug + PartialEq>(value: &T) {
        let text = value.to_string();
        assert_eq!(&text.parse::<T>().unwrap(), value);
        for other in [format!(" {text}"), format!("{text} "), format!("+{text}")] {
            assert!(other.parse::<T>().is_err(), "{other:?}");
        }
    }

    #[test]
    fn names_come_back() {
        Datatype::ALL.iter().for_each(comes_back);
        ArrayType::ALL.iter().for_each(comes_back);
        Layout::ALL.iter().for_each(comes_back);
        DataOrder::ALL.iter().for_each(comes_back);
        Encryption::ALL.iter().for_each(comes_back);
        FormatVersion::all().for_each(|version| comes_back(&version));
        comes_back(&CellValNum::Var);
    }

    #[test]
    fn errors_list_all_names() {
        let names = |text: &str| text.rsplit("expected ").next().unwrap().to_owned();
        let listed = |all: Vec<&str>| all.join(", ");
        let message = "x".parse::<Layout>().unwrap_err().to_string();
        assert_eq!(message, r#""x" is not a valid layout; expected row-major, col-major, global, unordered, hilbert"#);
        assert_eq!(names(&message), listed(Layout::ALL.iter().map(|value| value.name()).collect()));
        let message = "x".parse::<ArrayType>().unwrap_err().to_string();
        assert_eq!(names(&message), listed(ArrayType::ALL.iter().map(|value| value.name()).collect()));
        let message = "x".parse::<DataOrder>().unwrap_err().to_string();
        assert_eq!(names(&message), listed(DataOrder::ALL.iter().map(|value| value.name()).collect()));
        let message = "x".parse::<Encryption>().unwrap_err().to_string();
        assert_eq!(names(&message), listed(Encryption::ALL.iter().map(|value| value.name()).collect()));
        assert_eq!("int33".parse::<Datatype>().unwrap_err().to_string(), r#""int33" is not a valid datatype"#);
        assert_eq!("24".parse::<FormatVersion>().unwrap_err().to_string(), r#""24" is not a valid format version"#);
    }

    proptest! {
        #[test]
        fn numbers_come_back(number in 1..CellValNum::VAR_CODE) {
            comes_back(&CellValNum::from_code(number).unwrap());
        }

        /// A parsed name is printed unchanged, and a parsed number keeps its value.
        #[test]
        fn parsed_text_is_printed_unchanged(text in "[a-z0-9_-]{0,12}") {
            if let Ok(read) = text.parse::<Datatype>() { prop_assert_eq!(read.to_string(), text.clone()); }
            if let Ok(read) = text.parse::<CellValNum>() { prop_assert_eq!(read.code(), if text == "var" { u32::MAX } else { text.parse().unwrap() }); }
            if let Ok(read) = text.parse::<FormatVersion>() { prop_assert_eq!(read.number(), text.parse::<u32>().unwrap()); }
        }

        /// Fragment names survive a round trip and sort by time.
        #[test]
        fn timestamped_names(form in 0..3_usize, first in (0..1000u64, 0..1000u64, any::<u128>()), second in (0..1000u64, 0..1000u64, any::<u128>())) {
            let form = [NameForm::UuidFirst, NameForm::Unversioned, NameForm::Versioned(22)][form];
            let name = |(start, len, uuid): (u64, u64, u128)| TimestampedName::new(form, start, start + len, uuid);
            let (first, second) = (name(first), name(second));
            comes_back(&first);
            prop_assert_eq!(first.cmp(&second).is_eq(), first == second);
            if first.start() < second.start() { prop_assert!(first < second); }
        }
    }
}
