//! Errors of schema texts.

use std::ops::Range;

use tdb_schema::SchemaError;

use crate::span;

/// An error of parsing a schema from text, or of printing a schema as text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaTextError {
    /// The text is not TOML, or does not have the expected structure. The message has the position.
    #[error(transparent)]
    Toml(TomlError),
    /// A value is missing, or invalid for its key.
    #[error("{what}: {why}")]
    Invalid {
        /// The part of the schema, such as `dimension "rows"`.
        what: String,
        /// The reason, and the values that are valid.
        why: String,
        /// The key of the invalid value, if known.
        key: Option<&'static str>,
    },
    /// The parts contradict each other or the format.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

/// An error of the TOML parser, or of the structure of the text.
///
/// The type hides the parser. Replacing the parser is therefore not a breaking change.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TomlError(Box<toml::de::Error>);

impl From<toml::de::Error> for SchemaTextError {
    fn from(error: toml::de::Error) -> Self {
        Self::Toml(TomlError(Box::new(error)))
    }
}

impl SchemaTextError {
    #[cold]
    pub(crate) fn invalid(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), why: why.into(), key: None }
    }

    /// Sets the key of the invalid value.
    pub(crate) fn at(mut self, at: &'static str) -> Self {
        if let Self::Invalid { key, .. } = &mut self {
            *key = Some(at);
        }
        self
    }

    /// Returns the message as a single line, without a position.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Toml(error) => error.0.message().to_owned(),
            other => other.to_string(),
        }
    }

    /// Returns the byte range of the error in `text`, if known. `text` must be the parsed text.
    #[must_use]
    pub fn span(&self, text: &str) -> Option<Range<usize>> {
        match self {
            Self::Toml(error) => error.0.span(),
            Self::Invalid { what, key, .. } => span::find(text, what, *key),
            Self::Schema(SchemaError::Invalid { what, why } | SchemaError::Unsupported { what, why }) => {
                span::find(text, what, span::key(why))
            }
            Self::Schema(_) => None,
        }
    }
}

/// A result with a [`SchemaTextError`].
pub type Result<T, E = SchemaTextError> = std::result::Result<T, E>;
