//! The error of every parser, with field and offset.

use std::fmt;

/// A decoding error: the cause, the field and the offset.
///
/// The error is one pointer wide, so that a [`Result`](crate::Result) of a small value stays in
/// registers. The message starts with the outermost structure:
/// `dimension 0: tile extent: expected 8 bytes at 0x4c1, found 3`.
#[derive(Clone, PartialEq, Eq)]
pub struct DecodeError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: DecodeErrorKind,
    field: &'static str,
    offset: u64,
    /// The enclosing structures, innermost first. Each appends its name as the error propagates.
    context: Vec<String>,
}

/// The cause of a decoding error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The field is longer than the remaining bytes.
    Truncated {
        /// Bytes needed by the field.
        need: u64,
        /// Bytes remaining.
        have: u64,
    },
    /// The field's value violates the format.
    Invalid {
        /// The value found, in words or digits.
        found: String,
        /// The values allowed by the format.
        expected: &'static str,
    },
    /// Bytes follow the end of the structure.
    TrailingBytes {
        /// The number of surplus bytes.
        count: u64,
    },
    /// A size, depth or count in the file exceeds one of the caller's limits.
    LimitExceeded {
        /// The exceeded field of [`Limits`](crate::Limits).
        limit: &'static str,
        /// The value that exceeds the limit. For depths and counts, reading stops at the limit plus
        /// 1.
        asked: u64,
        /// The value of the limit.
        max: u64,
    },
    /// The format version is unknown to this library.
    UnsupportedVersion {
        /// The version in the file.
        found: u32,
        /// The lowest known version.
        min: u32,
        /// The highest known version.
        max: u32,
    },
    /// The file predates format versions.
    BeforeVersions,
}

/// The explanation and remedy for files older than format version 1. Messages put "is" before this
/// text.
pub const BEFORE_VERSIONS: &str = "older than format version 1 and readable only by releases of the \
                                   reference library before 1.4; read the cells with such a release and write them into a new array";

impl DecodeError {
    /// Creates an error of `kind` in the field that begins at absolute `offset`.
    #[cold]
    #[must_use]
    pub fn new(kind: DecodeErrorKind, field: &'static str, offset: u64) -> Self {
        Self(Box::new(Inner { kind, field, offset, context: Vec::new() }))
    }

    /// Creates a [`DecodeErrorKind::Invalid`] error.
    #[cold]
    #[must_use]
    pub fn invalid(field: &'static str, offset: u64, found: impl fmt::Display, expected: &'static str) -> Self {
        Self::new(DecodeErrorKind::Invalid { found: found.to_string(), expected }, field, offset)
    }

    /// Adds the name of an enclosing structure.
    #[cold]
    #[must_use]
    pub fn inside(mut self, name: impl Into<String>) -> Self {
        self.0.context.push(name.into());
        self
    }

    /// Returns the cause.
    #[must_use]
    pub fn kind(&self) -> &DecodeErrorKind {
        &self.0.kind
    }

    /// Returns the name of the field.
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.0.field
    }

    /// Returns the start of the field, in bytes from the start of the file. Inside an unfiltered
    /// payload, which the context then names, the offset counts from the start of the payload.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// Returns `true` if the bytes may be sound but this library cannot read them, because the
    /// format version is newer or the file predates format versions.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(self.0.kind, DecodeErrorKind::UnsupportedVersion { .. } | DecodeErrorKind::BeforeVersions)
    }
}

impl std::error::Error for DecodeError {}

impl fmt::Debug for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DecodeError({self})")
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, field, offset, context } = &*self.0;
        for name in context.iter().rev() {
            write!(f, "{name}: ")?;
        }
        write!(f, "{field}: ")?;
        match kind {
            DecodeErrorKind::Truncated { need, have } => {
                write!(f, "expected {need} bytes at {offset:#x}, found {have}")
            }
            DecodeErrorKind::Invalid { found, expected } => {
                write!(f, "found {found} at {offset:#x}, expected {expected}")
            }
            DecodeErrorKind::TrailingBytes { count } => {
                write!(f, "found {count} unexpected bytes at {offset:#x}")
            }
            DecodeErrorKind::LimitExceeded { limit, asked, max } => {
                write!(
                    f,
                    "{asked} at {offset:#x} exceeds the limit {limit} = {max}; raise the limit if the file is trusted"
                )
            }
            DecodeErrorKind::UnsupportedVersion { found, min, max } => write!(
                f,
                "unknown format version {found} at {offset:#x}; this library reads versions {min} to {max}; \
                 try a newer release of this library"
            ),
            DecodeErrorKind::BeforeVersions => {
                write!(f, "found none at {offset:#x}: the file is {BEFORE_VERSIONS}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pointer_wide() {
        assert_eq!(size_of::<DecodeError>(), size_of::<usize>());
    }

    #[test]
    fn messages_start_with_the_outermost_structure() {
        let error = DecodeError::new(DecodeErrorKind::Truncated { need: 8, have: 3 }, "tile extent", 0x4c1)
            .inside("dimension 0")
            .inside("domain");
        assert_eq!(error.to_string(), "domain: dimension 0: tile extent: expected 8 bytes at 0x4c1, found 3");
    }
}
