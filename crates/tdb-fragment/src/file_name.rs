//! The names of a fragment's data files.

use tdb_schema::ArraySchema;
use tdb_types::names::{COORDINATES, DATA_EXTENSION};
use tdb_types::{Feature, FormatVersion, is_safe_file_name};

use crate::error::{FragmentError, Result};
use crate::field::{FragmentField, Part};

/// The scheme that derives names of data files from fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameScheme {
    /// The name of the field, unchanged.
    Raw,
    /// The name of the field, with some characters percent-encoded.
    Percent,
    /// The kind of field and its index in the fragment's schema, such as `a0` or `d1`.
    Index,
}

impl NameScheme {
    /// Returns the scheme of fragments of `version`.
    #[must_use]
    pub const fn of(version: FormatVersion) -> Self {
        if version.has(Feature::IndexedFileNames) {
            Self::Index
        } else if version.has(Feature::PercentFileNames) {
            Self::Percent
        } else {
            Self::Raw
        }
    }

    /// Returns the name of the data file for one part of a field.
    ///
    /// # Errors
    /// Fails if the schema does not have the field, or if the field's name would create a path
    /// instead of a file name.
    pub fn data_file(self, schema: &ArraySchema, field: FragmentField, part: Part) -> Result<String> {
        let stem = self.stem(schema, field)?;
        let suffix = match part {
            Part::Fixed => "",
            Part::Var => "_var",
            Part::Validity => "_validity",
        };
        let name = format!("{stem}{suffix}.{DATA_EXTENSION}");
        if is_safe_file_name(&name) { Ok(name) } else { Err(FragmentError::UnsafeFileName { name }) }
    }

    fn stem(self, schema: &ArraySchema, field: FragmentField) -> Result<String> {
        let missing = FragmentError::NoSuchField { field };
        let (letter, index, name) = match field {
            FragmentField::Attribute(index) => ('a', index, schema.attributes().get(index).ok_or(missing)?.name()),
            FragmentField::Dimension(index) => {
                ('d', index, schema.domain().dimensions().get(index).ok_or(missing)?.name())
            }
            FragmentField::Coordinates => return Ok(COORDINATES.to_owned()),
            FragmentField::Timestamps => return Ok("t".to_owned()),
            FragmentField::DeleteTimestamps => return Ok("dt".to_owned()),
            FragmentField::DeleteConditionIndex => return Ok("dci".to_owned()),
        };
        Ok(match self {
            Self::Raw => name.to_owned(),
            Self::Percent => percent_encode(name),
            Self::Index => format!("{letter}{index}"),
        })
    }
}

/// Returns the code of a character in names of format 8, or `None` for characters without a code.
///
/// Most codes follow RFC 3986. The reference library gives `<`, `>`, `\` and `|`, which Windows
/// forbids in file names, the codes of other characters.
const fn percent_code(character: char) -> Option<&'static str> {
    Some(match character {
        '!' => "%21",
        '#' => "%23",
        '$' => "%24",
        '%' => "%25",
        '&' => "%26",
        '\'' => "%27",
        '(' => "%28",
        ')' => "%29",
        '*' => "%2A",
        '+' => "%2B",
        ',' => "%2C",
        '/' => "%2F",
        ':' => "%3A",
        ';' => "%3B",
        '=' => "%3D",
        '?' => "%3F",
        '@' => "%40",
        '[' => "%5B",
        ']' => "%5D",
        '"' => "%22",
        '<' => "%20",
        '>' => "%2D",
        '\\' => "%30",
        '|' => "%3C",
        _ => return None,
    })
}

fn percent_encode(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for character in name.chars() {
        match percent_code(character) {
            Some(code) => encoded.push_str(code),
            None => encoded.push(character),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the file name that release 2.2.9 wrote for an attribute of this name.
    #[test]
    fn odd_codes() {
        assert_eq!(percent_encode("a<b>|\"\\ c#/"), "a%20b%2D%3C%22%30 c%23%2F");
    }

    #[test]
    fn schemes() {
        let scheme = |number| NameScheme::of(FormatVersion::new(number).unwrap());
        assert_eq!([7, 8, 9].map(scheme), [NameScheme::Raw, NameScheme::Percent, NameScheme::Index]);
    }
}
