//! Timestamped names of fragments, commits, schemas and metadata files.

use std::cmp::Ordering;

use crate::{Feature, FormatVersion};

/// The form of a timestamped name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameForm {
    /// `__uuid_t`: formats 1 and 2.
    UuidFirst,
    /// `__t1_t2_uuid`: formats 3 and 4, and all names without a version (schemas, metadata).
    Unversioned,
    /// `__t1_t2_uuid_v`: format 5 and later.
    Versioned(u32),
}

/// A name with the timestamps of its file or fragment: `__t1_t2_uuid_v` and older forms, without
/// extension.
///
/// Timestamps are milliseconds since 1970-01-01 00:00 UTC. The time range includes both ends. It
/// covers more than one millisecond only in names of consolidated fragments and files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TimestampedName {
    name: String,
    start: u64,
    end: u64,
    form: NameForm,
}

impl TimestampedName {
    /// Parses the last component of a path. Strips the extension (from the last `.`) first.
    ///
    /// Returns `None` if the prefix `__` or a number is missing, if a number is out of range, or if
    /// `t1` exceeds `t2`.
    #[must_use]
    pub fn parse(file_name: &str) -> Option<Self> {
        let (name, start, end, form) = parts(file_name)?;
        Some(Self { name: name.to_owned(), start, end, form })
    }

    /// Returns `true` if [`parse`](Self::parse) accepts the last component of a path. Allocates no
    /// memory, because a file may list millions of names.
    #[must_use]
    pub fn is_one(file_name: &str) -> bool {
        parts(file_name).is_some()
    }

    /// Creates a name for the time range from `start` to `end`, made unique by `uuid`.
    ///
    /// `start` must not exceed `end`, because readers reject a name with a reversed range.
    ///
    /// ```
    /// use tdb_types::{NameForm, TimestampedName};
    ///
    /// let name = TimestampedName::new(NameForm::Versioned(22), 10, 20, 0xf00d);
    /// assert_eq!(name.as_str(), "__10_20_0000000000000000000000000000f00d_22");
    /// assert_eq!(TimestampedName::parse(name.as_str()), Some(name));
    /// ```
    #[must_use]
    pub fn new(form: NameForm, start: u64, end: u64, uuid: u128) -> Self {
        let name = match form {
            NameForm::UuidFirst => format!("__{uuid:032x}_{end}"),
            NameForm::Unversioned => format!("__{start}_{end}_{uuid:032x}"),
            NameForm::Versioned(version) => format!("__{start}_{end}_{uuid:032x}_{version}"),
        };
        // The oldest form stores only one timestamp.
        let start = if form == NameForm::UuidFirst { end } else { start };
        Self { name, start, end, form }
    }

    /// Returns the form of fragment and commit names in this format version.
    #[must_use]
    pub fn form_of_fragments(version: FormatVersion) -> NameForm {
        if version.has(Feature::LegacyFragmentMetadata) {
            NameForm::UuidFirst
        } else if version.has(Feature::CombinedCoordinates) {
            NameForm::Unversioned
        } else {
            NameForm::Versioned(version.number())
        }
    }

    /// Returns the name without extension.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// Returns the first millisecond of the time range.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the last millisecond of the time range.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Returns the unique part of the name, or `None` if it is not 32 hexadecimal digits.
    #[must_use]
    pub fn uuid(&self) -> Option<u128> {
        let part = match self.form {
            NameForm::UuidFirst => self.name.strip_prefix("__")?.split('_').next(),
            NameForm::Unversioned => self.name.rsplit('_').next(),
            NameForm::Versioned(_) => self.name.rsplit('_').nth(1),
        };
        part.filter(|part| part.len() == 32).and_then(crate::hex::number)
    }

    /// Returns the form of the name.
    #[must_use]
    pub fn form(&self) -> NameForm {
        self.form
    }

    /// Returns the format version that the name implies.
    ///
    /// The two older forms are ambiguous. This function returns 2 for formats 1 and 2, and 4 for
    /// formats 3 and 4.
    ///
    /// # Errors
    /// Fails if the version is unknown to this library.
    pub fn fragment_version(&self) -> Result<FormatVersion, crate::UnsupportedVersion> {
        FormatVersion::new(match self.form {
            NameForm::UuidFirst => 2,
            NameForm::Unversioned => 4,
            NameForm::Versioned(version) => version,
        })
    }
}

/// Orders names by first millisecond, then by bytes. Fragments, schemas and metadata take effect in
/// this order.
impl Ord for TimestampedName {
    fn cmp(&self, other: &Self) -> Ordering {
        // The name determines the other fields, so this order is consistent with `Eq`.
        (self.start, &self.name).cmp(&(other.start, &other.name))
    }
}

impl PartialOrd for TimestampedName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl std::fmt::Display for TimestampedName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.name)
    }
}

/// Returns `true` if `name` is safe as a single path component. Rejects the empty name, `.`, `..`,
/// and names with a slash, backslash or NUL.
///
/// Names read from a file must pass this check before use in a path.
#[must_use]
pub fn is_safe_file_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0'])
}

/// Splits a file name into the name without extension, its timestamps and its form.
fn parts(file_name: &str) -> Option<(&str, u64, u64, NameForm)> {
    let name = file_name.rsplit_once('.').map_or(file_name, |(stem, _)| stem);
    let (rest, last) = name.strip_prefix("__")?.rsplit_once('_')?;
    let mut first = rest.split('_');
    let (start, end, form) = match (first.next(), first.next(), first.next(), first.next()) {
        (Some(start), Some(end), Some(_), None) => {
            (number(start)?, number(end)?, NameForm::Versioned(version_number(last)?))
        }
        (Some(start), Some(end), None, None) if last.len() == 32 => {
            (number(start)?, number(end)?, NameForm::Unversioned)
        }
        // Names of consolidated fragments from releases 1.x end with two timestamps. The second
        // applies.
        _ => (number(last)?, number(last)?, NameForm::UuidFirst),
    };
    (start <= end).then_some((name, start, end, form))
}

fn number(text: &str) -> Option<u64> {
    // `parse` would also accept a leading plus sign.
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn version_number(text: &str) -> Option<u32> {
    number(text).and_then(|version| u32::try_from(version).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn three_generations() {
        let name = TimestampedName::parse(&format!("__10_20_{UUID}_22.wrt")).unwrap();
        assert_eq!((name.start(), name.end(), name.form()), (10, 20, NameForm::Versioned(22)));
        assert_eq!(name.as_str(), format!("__10_20_{UUID}_22"));
        let name = TimestampedName::parse(&format!("__10_20_{UUID}")).unwrap();
        assert_eq!((name.start(), name.end(), name.form()), (10, 20, NameForm::Unversioned));
        assert!(TimestampedName::is_one(name.as_str()));
        let name = TimestampedName::parse(&format!("__{UUID}_10_30")).unwrap();
        assert_eq!((name.start(), name.end(), name.form()), (30, 30, NameForm::UuidFirst));
        assert_eq!(name.uuid(), Some(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef));
        let name = TimestampedName::parse(&format!("__{UUID}_30")).unwrap();
        assert_eq!(name.uuid(), Some(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef));
        assert_eq!((name.start(), name.end(), name.form()), (30, 30, NameForm::UuidFirst));
    }

    #[test]
    fn created_names_parse() {
        for version in FormatVersion::all() {
            let name = TimestampedName::new(TimestampedName::form_of_fragments(version), 7, 7, 0xabc);
            assert_eq!(TimestampedName::parse(name.as_str()).as_ref(), Some(&name));
            assert_eq!(name.uuid(), Some(0xabc));
            // The older forms are shared by two versions each.
            let implied = name.fragment_version().unwrap().number();
            assert!(implied == version.number() || implied == version.number() + 1 && implied <= 4, "{name}");
        }
    }

    #[test]
    fn other_text_is_not_a_name() {
        for text in ["", "__schema", "__fragments", "a_b", "__x_y", "__2_1_0_22", "__1_1_0_99999999999", "__+1_1_u_2"] {
            assert_eq!(TimestampedName::parse(text), None, "{text}");
            assert!(!TimestampedName::is_one(text), "{text}");
        }
    }

    #[test]
    fn safe_names() {
        assert!(is_safe_file_name("__1_1_0"));
        for text in ["", ".", "..", "a/b", "a\\b", "a\0"] {
            assert!(!is_safe_file_name(text), "{text:?}");
        }
    }
}
