//! The error of every parser: what was wrong, in which field, at which offset.

use std::fmt;

/// What a decoder found wrong, in which field, and where.
///
/// It is one pointer wide, so that a [`Result`](crate::Result) of a small value stays in registers. The message reads
/// from the outermost structure inwards: `dimension 0: tile extent: need 8 bytes at 0x4c1, 3 left`.
pub struct DecodeError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: DecodeErrorKind,
    field: &'static str,
    offset: u64,
    /// Innermost first: each enclosing structure pushes its name on the way up.
    context: Vec<String>,
}

/// The kinds of trouble that bytes can give, as far as a caller may want to act on them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The field needs more bytes than are left.
    Truncated {
        /// Bytes that the field needs.
        need: u64,
        /// Bytes that are left.
        have: u64,
    },
    /// The field's value contradicts the format.
    Invalid {
        /// What was found, in words or digits.
        found: String,
        /// What the format allows here.
        expected: &'static str,
    },
    /// Bytes follow where the structure should have ended.
    TrailingBytes {
        /// How many.
        count: u64,
    },
    /// The bytes claim a size above a caller's limit.
    LimitExceeded {
        /// Which limit (a field of [`Limits`](crate::Limits)).
        limit: &'static str,
        /// What the bytes ask for.
        asked: u64,
        /// What the limit allows.
        max: u64,
    },
    /// The format version is not one that this library knows.
    UnsupportedVersion {
        /// The version in the file.
        found: u32,
        /// The lowest version known.
        min: u32,
        /// The highest version known.
        max: u32,
    },
    /// The bytes are of before there were format versions.
    BeforeVersions,
}

/// What is older than format version 1, and what to do with it, to follow "this is" and the like.
pub const BEFORE_VERSIONS: &str = "older than format version 1, written by a release of the reference library before 1.4, and \
                                   only those read it; have one of them read the cells, and write them into a new array";

impl DecodeError {
    /// An error of `kind` in `field`, which begins at absolute `offset`.
    #[cold]
    #[must_use]
    pub fn new(kind: DecodeErrorKind, field: &'static str, offset: u64) -> Self {
        Self(Box::new(Inner { kind, field, offset, context: Vec::new() }))
    }

    /// Shorthand for [`DecodeErrorKind::Invalid`].
    #[cold]
    #[must_use]
    pub fn invalid(field: &'static str, offset: u64, found: impl fmt::Display, expected: &'static str) -> Self {
        Self::new(DecodeErrorKind::Invalid { found: found.to_string(), expected }, field, offset)
    }

    /// The same error, inside the structure `name`.
    #[cold]
    #[must_use]
    pub fn inside(mut self, name: impl Into<String>) -> Self {
        self.0.context.push(name.into());
        self
    }

    /// What was wrong.
    #[must_use]
    pub fn kind(&self) -> &DecodeErrorKind {
        &self.0.kind
    }

    /// The field that was being read.
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.0.field
    }

    /// Where the field begins: bytes from the start of the file (or of the unfiltered payload, if the context says so).
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// Whether the bytes are sound but beyond what this library knows (a newer format version, or bytes of before there were
    /// any).
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(self.0.kind, DecodeErrorKind::UnsupportedVersion { .. } | DecodeErrorKind::BeforeVersions)
    }
}

impl std::error::Error for DecodeError {}

impl Clone for DecodeError {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl PartialEq for DecodeError {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for DecodeError {}

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
                write!(f, "need {need} bytes at {offset:#x}, {have} left")
            }
            DecodeErrorKind::Invalid { found, expected } => {
                write!(f, "found {found} at {offset:#x}, expected {expected}")
            }
            DecodeErrorKind::TrailingBytes { count } => {
                write!(f, "{count} bytes too many at {offset:#x}")
            }
            DecodeErrorKind::LimitExceeded { limit, asked, max } => {
                write!(f, "{asked} at {offset:#x} is above the limit {limit} = {max}; raise it if the file is trusted")
            }
            DecodeErrorKind::UnsupportedVersion { found, min, max } => write!(
                f,
                "format version {found} at {offset:#x} is not known; this library reads versions {min} to {max}, \
                 a newer release of it may read this file"
            ),
            DecodeErrorKind::BeforeVersions => {
                write!(f, "there is none at {offset:#x}: this is {BEFORE_VERSIONS}")
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
    fn reads_from_the_outside_in() {
        let error = DecodeError::new(DecodeErrorKind::Truncated { need: 8, have: 3 }, "tile extent", 0x4c1)
            .inside("dimension 0")
            .inside("domain");
        assert_eq!(error.to_string(), "domain: dimension 0: tile extent: need 8 bytes at 0x4c1, 3 left");
    }
}
